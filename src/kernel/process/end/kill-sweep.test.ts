/** Whoever ends a process, and at whatever turn of what it has begun: nothing that it began is left. */
import { describe, expect, test } from "vitest";
import type { AgentInfo } from "../../../abi/agent.ts";
import type { McpServer } from "../../../abi/mcp.ts";
import type { Signal } from "../../../abi/process.ts";
import type { SpawnOpts, Syscalls } from "../../../abi/sys.ts";
import { FakeMcp } from "../../testing/fake-mcp.ts";
import { FakePrograms } from "../../testing/fake-programs.ts";
import { agentFile, NOTHING_LEFT, TestKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

/** Enough for each of the calls below to have begun all that it begins. */
const TURNS = 120;
const [TERM, KILL] = [1, 2] as const satisfies readonly Signal[];

function withServer(): AgentInfo {
  const file = agentFile();
  const config = { type: "stdio", command: "ok", args: [], env: {} } as const;
  const mcp: McpServer[] = [{ name: "ok", config, required: true }];
  return { ...file, manifest: { ...file.manifest, mcp } };
}

const bound: SpawnOpts = { onParentExit: "terminate" };
const native = (id: string) => ({ id, start: { command: ["server", id] } });

/** What a process begins. An agent may outlive its parent: here it is bound to it. */
const BEGINS: Record<string, (sys: Syscalls) => Promise<unknown>> = {
  "a program": (sys) => sys.spawn("", null, { command: ["server"] }),
  "a program that heeds no TERM": (sys) => sys.spawn("", null, { command: ["deaf"] }),
  "an agent with a server": (sys) => sys.spawn("hang", withServer(), bound),
  "a mount": (sys) => sys.mount("/mnt/mcp/ok", { type: "stdio", command: "hangs", args: [], env: {} }),
  "a supervisor": (sys) =>
    sys.spawnSupervisor({
      name: "shop",
      children: [
        native("a"),
        { id: "b", start: { supervisor: { name: "inner", children: [native("c"), native("d")] } } },
        { id: "e", start: { agent: "helper", intent: "hang" } },
      ],
    }),
  "a pipeline": async (sys) => {
    const { readFd, writeFd } = await sys.pipe(sys.getPid(), sys.getPid());
    await sys.spawn("", null, { command: ["server"], stdout: writeFd });
    await sys.spawn("hang", withServer(), { ...bound, stdin: readFd });
  },
};

function bench() {
  const [programs, mcp] = [new FakePrograms(), new FakeMcp()];
  programs.stubborn.add("deaf");
  const t = new TestKernel({ exec: programs, mcp });
  t.agents.set("helper", withServer());
  t.programs.set(
    "hang",
    ({ ending }) => new Promise((_, reject) => ending.addEventListener("abort", reject)),
  );
  return { t, programs, mcp };
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await Promise.resolve();
}

async function expectNothingLeft({ t, programs, mcp }: ReturnType<typeof bench>): Promise<void> {
  await settle(10);
  // one that stands is the person's when its parent is gone, and ends with all that is below it
  for (const pid of t.kernel.supervisors.keys()) await t.init.kill(pid, TERM);
  for (const ms of [0, 5_000, 10_000, 60_000, 60_000]) {
    await t.clock.advance(ms);
    await settle();
  }
  expect([programs.live, mcp.live, t.kernel.supervisors.size, t.kernel.listMounts()]).toEqual([0, 0, 0, []]);
  expect(t.census()).toEqual(NOTHING_LEFT);
}

describe.each(Object.entries(BEGINS))("%s", (_what, begin) => {
  test("nothing is there at first, and all of it at the last turn", async () => {
    const made = bench();
    const { pid, sys } = await made.t.start();
    begin(sys).catch(() => {});
    expect(made.programs.live + made.mcp.live).toBe(0);
    await turns(TURNS);
    const [programs, servers] = [made.programs.live, made.mcp.live];
    await settle(10);
    expect([made.programs.live, made.mcp.live]).toEqual([programs, servers]);
    expect(programs + servers).toBeGreaterThan(0);
    await made.t.init.kill(pid, KILL);
    await expectNothingLeft(made);
  });

  test.each([
    ["TERM", TERM],
    ["KILL", KILL],
  ] as const)("its owner ended by %s at any turn", async (_name, signal) => {
    for (let turn = 0; turn < TURNS; turn++) {
      const made = bench();
      const { pid, sys } = await made.t.start();
      begin(sys).catch(() => {});
      await turns(turn);
      void made.t.init.kill(pid, signal);
      await expectNothingLeft(made);
    }
  });

  test("the kernel shut down at any turn", async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      const made = bench();
      const { sys } = await made.t.start();
      begin(sys).catch(() => {});
      await turns(turn);
      const down = made.t.kernel.shutdown(1_000);
      for (const ms of [0, 1_000, 5_000, 5_000]) await made.t.clock.advance(ms);
      await down;
      expect([made.programs.live, made.mcp.live, made.t.kernel.table.size]).toEqual([0, 0, 0]);
      await expectNothingLeft(made);
    }
  });
});
