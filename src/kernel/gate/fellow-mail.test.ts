import { expect, test } from "vitest";
import { agentIdOf } from "../../abi/child.ts";
import type { Effect } from "../../abi/effects.ts";
import { asPid, asProcUuid } from "../../abi/ids.ts";
import { EXIT } from "../../abi/process.ts";
import type { Sys } from "../../abi/sys.ts";
import { testKernel } from "../testing/test-kernel.ts";
import { withReceivers } from "./fellow-mail.ts";

test("withReceivers() says who is above the caller; what the caller claims of that is dropped", async () => {
  const t = testKernel();
  const handles: Sys[] = [];
  t.programs.set("below", (own) => {
    handles.push(own);
    return new Promise((resolve) => own.ending.addEventListener("abort", () => resolve(EXIT.unexpected)));
  });
  const { pid: top, sys } = await t.start();
  const child = await sys.spawn("below", null);
  const sibling = await sys.spawn("below", null);
  const grandchild = await handles[0]!.spawn("below", null);
  const isAbove = (from: typeof child, to: string) => {
    const effect = withReceivers(t.kernel, t.proc(from), { kind: "message", to, isAbove: true });
    return effect.kind === "message" && effect.isAbove === true;
  };
  expect([
    isAbove(child, String(top)),
    isAbove(grandchild, String(child)),
    isAbove(grandchild, "main"),
  ]).toEqual([true, true, true]);
  expect([isAbove(child, String(sibling)), isAbove(child, String(grandchild)), isAbove(child, "*")]).toEqual([
    false,
    false,
    false,
  ]);
  expect(isAbove(top, "main")).toBe(false);
  await t.kernel.abandon("over");
});

test("withReceivers() says who is a stranger: by pid and agentId anybody alive, by name only in the own session", async () => {
  let made = 0;
  const t = testKernel({ uuid: () => asProcUuid(`0000000${++made}-0000-4000-8000-000000000000`) });
  const one = await t.start();
  const other = await t.start();
  const child = (by: typeof one, name: string) =>
    t.start({ by: by.sys, child: { call: `c-${name}`, name, title: name } });
  const [ada, bob, far] = [await child(one, "ada"), await child(one, "bob"), await child(other, "far")];
  const judged = (from: typeof one, to: string) => {
    const claim: Effect = { kind: "message", to, isStranger: true };
    const effect = withReceivers(t.kernel, t.proc(from.pid), claim);
    return "isStranger" in effect;
  };
  const idOf = ({ proc }: typeof one) => agentIdOf(proc.seed.uuid);
  const strangers = [String(bob.pid), idOf(bob), "bob", String(other.pid), String(far.pid), idOf(far)];
  expect(strangers.filter((to) => !judged(ada, to))).toEqual([]);
  const others = ["far", "nobody", "99", String(one.pid), idOf(one), "main", "ada", "agent-fedcba987654"];
  expect(others.filter((to) => judged(ada, to))).toEqual([]);
  expect(judged(one, "bob")).toBe(false);
  const nobody = { kind: "message", to: "far", names: [] };
  expect(withReceivers(t.kernel, t.proc(ada.pid), { kind: "message", to: "far" })).toEqual(nobody);
  far.end();
  await far.proc.done.promise;
  expect(judged(ada, String(far.pid))).toBe(false);
  expect(judged(ada, String(asPid(0)))).toBe(false);
  await t.kernel.abandon("over");
});
