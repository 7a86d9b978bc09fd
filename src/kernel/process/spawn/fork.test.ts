import { expect, test } from "vitest";
import { COORDINATOR } from "../../../abi/child.ts";
import { FORK, type ForkOffer, isDirective } from "../../../abi/fork.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import { agentFile, type Started, TestKernel, testKernel } from "../../testing/test-kernel.ts";

const offer: ForkOffer = {
  prefix: { environment: "here", reminder: "", tools: [] },
  reply: [
    { type: "text", text: "two at once" },
    { type: "tool_use", id: "t1", name: "agent", input: {} },
    { type: "tool_use", id: "t2", name: "agent", input: {} },
  ],
};
const fork = { label: FORK };
const child = (call: string) => ({ child: { call, title: call } });

/** Somebody is attached to it. */
async function talked(
  t: TestKernel,
  opts: SpawnOpts & { agent?: ReturnType<typeof agentFile> } = {},
): Promise<Started> {
  const parent = await t.start({ agent: agentFile(), interactive: true, ...opts });
  parent.proc.seed.session.approvers.expect(t.clock.mono());
  await parent.sys.appendMessage(parent.start.ctxId, "user", "two");
  parent.proc.seen.set("/a", { sha256: "1", source: "view" });
  parent.sys.offerFork(offer);
  return parent;
}

test("a called fork has the messages, the reply in progress with a result per call, and its directive; siblings differ in that alone", async () => {
  const t = new TestKernel();
  const parent = await talked(t);
  const forks: Started[] = [];
  for (const call of ["t1", "t2"]) forks.push(await t.start({ by: parent.sys, fork, ...child(call) }));
  const told = [];
  for (const { sys, start } of forks) told.push((await sys.buildPrompt(start.ctxId)).messages);
  const { messages } = await parent.sys.buildPrompt(parent.start.ctxId);
  const [one = [], two = []] = told;
  expect(one.slice(0, messages.length)).toEqual(messages);
  expect(one.slice(messages.length, -1)).toMatchObject([
    { role: "assistant", content: "two at once", blocks: offer.reply },
    { role: "tool", tool_call_id: "t1" },
    { role: "tool", tool_call_id: "t2" },
  ]);
  expect(one.slice(0, -1)).toEqual(two.slice(0, -1));
  for (const [n, last] of [one.at(-1), two.at(-1)].entries()) {
    expect(last && isDirective(last)).toBe(true);
    expect(last?.content.endsWith(`\n\n${forks[n]?.start.intent}`)).toBe(true);
  }
  expect(forks[0]?.start).toMatchObject({
    fork: offer.prefix,
    surroundings: true,
    agent: parent.start.agent,
  });
  expect(parent.proc.seed.account.children).toBe(2);
  expect(forks[0]?.proc.seen.has("/a")).toBe(true);
  const rows = await parent.sys.listProcs();
  expect(rows.find(({ pid }) => pid === forks[0]?.pid)).toMatchObject({ fork: FORK, child: { title: "t1" } });
});

test("a called fork has the mode of its parent and no more, and what its parent may not do it may not", async () => {
  const t = new TestKernel();
  const parent = await talked(t, {
    permissionMode: "plan",
    rights: { deny: ["bash"], tools: ["view", "agent"] },
  });
  const { proc } = await t.start({ by: parent.sys, fork, ...child("t1"), permissionMode: "bypass" });
  expect(proc.mode).toBe("plan");
  const { rights } = proc.seed;
  expect(rights.tools).toEqual(parent.proc.seed.rights.tools);
  expect(rights.deny).toEqual(parent.proc.seed.rights.deny);
  expect(rights.deny).toHaveLength(1);
});

test("a fork is refused without an offer for its call, to a fork, after a directive, to a coordinator's line, with nobody attached", async () => {
  const t = new TestKernel();
  const parent = await talked(t);
  const more = { fork, ...child("t1") };
  await expect(parent.sys.spawn("x", null, { fork, ...child("t9") })).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  await expect(parent.sys.spawn("x", null, { fork })).rejects.toMatchObject({ code: "INVALID" });
  const first = await t.start({ by: parent.sys, ...more });
  first.sys.offerFork(offer);
  await expect(first.sys.spawn("x", null, more)).rejects.toMatchObject({ code: "PERMISSION" });
  parent.sys.offerFork(null);
  await expect(parent.sys.spawn("x", null, more)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const tagged = await talked(t);
  await tagged.sys.appendMessage(
    tagged.start.ctxId,
    "user",
    "<fork-boilerplate>\nof another\n</fork-boilerplate>",
  );
  await expect(tagged.sys.spawn("x", null, more)).rejects.toMatchObject({ code: "PERMISSION" });
  const agent = agentFile();
  const lead = await talked(t, { agent: { ...agent, manifest: { ...agent.manifest, name: COORDINATOR } } });
  await expect(lead.sys.spawn("x", null, more)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const worker = await t.start({ by: lead.sys, agent });
  worker.sys.offerFork(offer);
  await expect(worker.sys.spawn("x", null, more)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const alone = await t.start({ agent });
  alone.sys.offerFork(offer);
  await expect(alone.sys.spawn("x", null, more)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("a called fork comes back after a crash as a fork, with its conversation and not in its parent's reply", async () => {
  const t = testKernel();
  const parent = await talked(t);
  await parent.sys.checkpoint({ v: 2, kept: "the reply of the parent" });
  const made = await t.start({ by: parent.sys, fork, ...child("t1") });
  const before = await made.sys.buildPrompt(made.start.ctxId);
  await t.kernel.ports.journal.sync();
  t.journal.crash();
  const next = testKernel({}, t.journal);
  const { restored, lost } = await next.kernel.recover();
  expect([lost, restored.map(({ pid }) => pid)]).toEqual([[], [parent.pid, made.pid]]);
  const proc = next.proc(made.pid);
  expect(proc.seed).toMatchObject({ fork, child: { call: "t1" } });
  await proc.past.recall();
  expect(proc.past.restored?.state).toBe(null);
  const { messages } = next.kernel.contexts.prompt(proc.ctxId);
  expect(messages).toEqual(before.messages);
});
