import { expect, test } from "vitest";
import { SIGNALS } from "../../abi/process.ts";
import { type Started, type TestKernel, testKernel } from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";
import { readContents, readHistory } from "./history-reader.ts";

async function said({ sys, start }: Started, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await sys.appendMessage(start.ctxId, "assistant", `said ${n}`);
    sys.checkpoint({ turn: n });
  }
}

const seqs = (t: TestKernel, { proc }: Started) =>
  (t.journal.snapshots.get(proc.seed.uuid) ?? []).map(({ seq }) => seq);

test("a process that works has a snapshot after a thousand records or so, and again; the last two stay", async () => {
  const t = testKernel();
  const worker = await t.start();
  await said(worker, 400);
  await settle(6);
  expect(seqs(t, worker)).toEqual([]);
  for (let round = 0; round < 4; round++) {
    await said(worker, 600);
    await settle(60);
  }
  const [before = 0, last = 0] = seqs(t, worker);
  expect(before).toBeGreaterThan(1_000);
  expect(last - before).toBeGreaterThanOrEqual(1_000);
  expect(seqs(t, worker)).toHaveLength(2);
});

test("one that rests has one sooner, and none when it has hardly said anything", async () => {
  const t = testKernel();
  const [long, short] = [await t.start(), await t.start()];
  await said(long, 140);
  for (const { pid } of [long, short]) await t.init.kill(pid, SIGNALS.SIGPAUSE);
  await settle(10);
  expect([seqs(t, long).length, seqs(t, short)]).toEqual([1, []]);
});

test("the exit makes one: what ended is soon read again", async () => {
  const t = testKernel();
  const worker = await t.start();
  await said(worker, 200);
  worker.end();
  await t.init.wait(worker.pid);
  await settle(10);
  expect(seqs(t, worker)).toHaveLength(1);
  t.journal.pagesRead = 0;
  const history = await readHistory(t.journal, worker.proc.seed.uuid);
  expect(t.journal.pagesRead).toBeLessThanOrEqual(2);
  expect((await readContents(t.journal, history)).messages).toHaveLength(201);
});

test("what cannot be read keeps nobody from anything", async () => {
  const t = testKernel();
  const worker = await t.start();
  await said(worker, 200);
  t.journal.damaged.set(worker.proc.seed.uuid, 3);
  await t.init.kill(worker.pid, SIGNALS.SIGPAUSE);
  await settle(10);
  expect(seqs(t, worker)).toEqual([]);
  expect(t.logs).toEqual([expect.stringContaining("no snapshot was made: record 3 is damaged")]);
  await t.init.kill(worker.pid, SIGNALS.SIGTERM);
  expect((await t.init.wait(worker.pid)).code).toBe(143);
});
