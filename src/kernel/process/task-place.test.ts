import { expect, test } from "vitest";
import { TEAM } from "../../abi/child.ts";
import { testKernel } from "../testing/test-kernel.ts";
import { keptValues } from "./kept-values.ts";
import { taskPlaceOf } from "./task-place.ts";

const NAMED = { CRUX_TEAM_NAME: "named" };
const GIVEN = { ...NAMED, CRUX_TASK_LIST_ID: "given" };

test.each([
  [
    "its team, else that of its leader, else its session",
    {},
    { alone: "session", plain: "crew", member: "crew" },
  ],
  [
    "a name of the environment before its leader's team",
    NAMED,
    { alone: "named", plain: "named", member: "crew" },
  ],
  ["a list of the environment before all", GIVEN, { alone: "given", plain: "given", member: "given" }],
])("the list of a process is that of %s", async (_, env, lists) => {
  const t = testKernel();
  const lead = await t.start({ env });
  const listOf = ({ pid }: { readonly pid: typeof lead.pid }) => {
    const list = taskPlaceOf(t.kernel, pid)?.list;
    return list === lead.proc.seed.uuid ? "session" : list;
  };
  const plain = await t.start({ by: lead.sys });
  const alone = listOf(plain);
  await lead.sys.joinGroup(lead.pid, "crew");
  const mark = { call: "c", title: "x", name: "ada", team: "crew", isBackground: true } as const;
  const member = await t.start({ by: lead.sys, group: "crew", child: mark });
  expect({ alone, plain: listOf(plain), member: listOf(member) }).toEqual(lists);
});

test("a team has one list, whatever other groups its lead is in", async () => {
  const t = testKernel();
  const lead = await t.start({});
  await lead.sys.joinGroup(lead.pid, "older");
  await lead.sys.joinGroup(lead.pid, "crew");
  keptValues(t.kernel, lead.proc).set(TEAM, { name: "crew", description: "", createdAt: 0 });
  const mark = { call: "c", title: "x", name: "ada", team: "crew", isBackground: true } as const;
  const member = await t.start({ by: lead.sys, group: "crew", child: mark });
  const plain = await t.start({ by: lead.sys });
  for (const { pid } of [lead, member, plain]) expect(taskPlaceOf(t.kernel, pid)?.list).toBe("crew");
});
