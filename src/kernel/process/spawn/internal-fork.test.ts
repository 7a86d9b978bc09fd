import { expect, test } from "vitest";
import type { ForkPrefix, ForkWish } from "../../../abi/fork.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import { LIMITS } from "../../limits.ts";
import { agentFile, type Started, TestKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

const prefix: ForkPrefix = { environment: "here", reminder: "", tools: [] };
const fork: ForkWish = { label: "memory", prefix };

async function talked(t: TestKernel, opts: SpawnOpts = {}): Promise<Started> {
  const parent = await t.start({ agent: agentFile(), session: true, ...opts });
  await parent.sys.appendMessage(parent.start.ctxId, "user", "two");
  await parent.sys.appendMessage(parent.start.ctxId, "assistant", "three");
  return parent;
}

test("spawn() with fork continues the conversation of its parent, which sees nothing of it", async () => {
  const t = new TestKernel();
  const parent = await talked(t);
  const child = await t.start({ by: parent.sys, fork });
  const { messages, systemPrompt } = await parent.sys.buildPrompt(parent.start.ctxId);
  const told = await child.sys.buildPrompt(child.start.ctxId);
  expect(told.systemPrompt).toBe(systemPrompt);
  expect(told.messages).toEqual([...messages, { role: "user", content: child.start.intent }]);
  expect(child.start).toMatchObject({ fork: fork.prefix, agent: parent.start.agent, session: null });
  expect([child.start.surroundings, child.start.modes, child.start.slash]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  await child.sys.appendMessage(child.start.ctxId, "assistant", "aside");
  expect((await parent.sys.buildPrompt(parent.start.ctxId)).messages).toEqual(messages);
});

test("a fork's history is a reference to that of its parent", async () => {
  const t = new TestKernel();
  const parent = await talked(t);
  const child = await t.start({ by: parent.sys, fork });
  const { uuid } = parent.proc.seed;
  const records = await t.journal.read(child.proc.seed.uuid, 1, 256);
  const [first, spawned, directive] = records;
  const { lastSeq = 0 } = (await t.journal.row(uuid)) ?? {};
  expect(first).toMatchObject({ kind: "process.forked", body: { from: uuid } });
  const { at } = (first?.body ?? {}) as { at: number };
  expect(at).toBeLessThanOrEqual(lastSeq);
  const before = (await t.journal.read(uuid, 1, 256)).filter(({ seq }) => seq <= at);
  expect(before.filter(({ kind }) => kind === "ctx.record").length).toBeGreaterThanOrEqual(2);
  expect(spawned).toMatchObject({ kind: "process.spawned", body: { fork: "memory" } });
  expect(directive).toMatchObject({
    kind: "ctx.record",
    body: { role: "user", content: child.start.intent },
  });
  expect(JSON.stringify(records)).not.toContain("three");
});

test("a fork has no more rights than were asked for, and is not counted among the agents", async () => {
  const t = new TestKernel();
  const parent = await talked(t);
  const rights = { tools: ["view"], roots: ["/notes"] };
  const child = await t.start({ by: parent.sys, fork, rights, permissionMode: "dont_ask" });
  expect(child.proc.seed.rights).toMatchObject({ tools: ["view"], roots: ["/notes"] });
  expect(child.proc.mode).toBe("dont_ask");
  expect(parent.proc.seed.account.children).toBe(0);
});

test("forks are few at once, are not forked again, and are not for programs without a conversation", async () => {
  const t = new TestKernel();
  const parent = await talked(t);
  const forks: Started[] = [];
  for (let n = 0; n < LIMITS.internalForks; n++) forks.push(await t.start({ by: parent.sys, fork }));
  await expect(parent.sys.spawn("more", null, { fork })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(forks[0]?.sys.spawn("deeper", null, { fork })).rejects.toMatchObject({ code: "PERMISSION" });
  await expect(t.init.spawn("of nobody", null, { fork })).rejects.toMatchObject({ code: "INVALID" });
  const large = { ...fork, prefix: { ...prefix, reminder: "x".repeat(LIMITS.forkPrefixChars) } };
  forks[0]?.end();
  await settle();
  await expect(parent.sys.spawn("large", null, { fork: large })).rejects.toMatchObject({ code: "INVALID" });
});

test("a fork that nobody waits for is reaped by itself, and one that runs ends with its parent", async () => {
  const t = new TestKernel();
  const parent = await talked(t);
  const [done, running] = [await t.start({ by: parent.sys, fork }), await t.start({ by: parent.sys, fork })];
  done.end();
  await settle();
  await t.clock.advance(LIMITS.zombieMs);
  await settle();
  expect(t.kernel.table.get(done.pid)).toBeUndefined();
  const { processes } = await t.kernel.ended({ before: Number.MAX_SAFE_INTEGER, limit: 9 });
  expect(processes).toMatchObject([{ pid: done.pid, fork: "memory" }]);
  parent.end();
  await settle();
  expect(running.proc.state).not.toBe("running");
});
