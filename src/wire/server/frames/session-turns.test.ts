/** The frames of a session, in the numbers that must change nothing: ten thousand turns, and a thousand messages that wait. */
import { getEventListeners } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import type { Pid } from "../../../abi/ids.ts";
import type { Program } from "../../../abi/program.ts";
import { testKernel } from "../../../kernel/testing/test-kernel.ts";
import { settle } from "../../../kernel/testing/virtual-clock.ts";
import { ServerFixture } from "../testing/fixture.ts";
import { FrameClient } from "./testing.ts";

const TURNS = 10_000;
/** Messages in one go: fewer than wait in a mailbox. */
const AT_ONCE = 100;
const PENDING = 1_000;

/** A session that reads messages once `open` has resolved, and its client. */
async function session(open: Promise<void>) {
  const read: string[] = [];
  const program: Program = async (sys) => {
    await open;
    for (;;) {
      const { seq, from, data } = await sys.recv({}, sys.ending);
      const text = Buffer.from(data).toString();
      read.push(text);
      sys.beginRun({ seq, from, client: "", text }, true);
      await sys.endRun("completed", { code: 0, reason: "completed", kind: "done" });
    }
  };
  const t = testKernel({ program });
  const fixture = new ServerFixture();
  fixture.options = { kernel: t.kernel, clock: t.clock };
  await fixture.start();
  const clients = await Promise.all(Array.from({ length: 3 }, () => FrameClient.open(fixture.socketPath)));
  onTestFinished(async () => {
    for (const { socket } of clients) socket.destroy();
    await fixture.close();
  });
  t.journal.now = t.clock.now();
  const pid = await t.init.spawn("", null, { session: true });
  await settle();
  return { t, pid, read, clients: clients as [FrameClient, FrameClient, FrameClient] };
}

const saying = (pid: Pid, n: number) =>
  ["session.say", { pid, text: `turn ${n}` }, { meta: { idempotencyKey: `k${n}` } }] as const;

it("each of 10,000 turns is had once and in order, whatever is sent again, late and by whom; no listener is left of them", async () => {
  const { t, pid, read, clients } = await session(Promise.resolve());
  const [first, second, third] = clients;
  const { abort } = t.proc(pid);
  const left = () => [
    ...clients.map(({ socket }) =>
      socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0),
    ),
    getEventListeners(abort.signal, "abort").length,
    t.clock.pending,
    process.listenerCount("warning"),
  ];
  await first.call(...saying(pid, -1));
  await settle();
  const before = left();
  const say = (client: FrameClient, n: number) =>
    client.call<{ seq: number }>(...saying(pid, n)).then(({ seq }) => seq);
  let late: { readonly n: number; readonly seq: number }[] = [];
  for (let from = 0; from <= TURNS; from += AT_ONCE) {
    const all = Array.from({ length: from < TURNS ? AT_ONCE : 0 }, (_, n) => from + n);
    // each twice; meanwhile those before come again from elsewhere, the last that were said first
    const twice = all.map((n) => [say(first, n), say(first, n)] as const);
    const again = late.reverse().map(({ n, seq }) => [seq, say(n % 2 === 0 ? second : third, n)] as const);
    for (const [seq, repeated] of again) expect(await repeated).toBe(seq);
    late = [];
    for (const [n, [said, repeated]] of twice.entries()) {
      late.push({ n: from + n, seq: await said });
      expect(await repeated).toBe(await said);
    }
    for (const { responses, messages } of clients) responses.length = messages.length = 0;
  }
  await settle();
  expect(read).toEqual(Array.from({ length: TURNS + 1 }, (_, n) => `turn ${n - 1}`));
  expect(left()).toEqual(before);
});

it("a thousand messages that wait are read in order, without those that were withdrawn", async () => {
  const open = Promise.withResolvers<void>();
  const { pid, read, clients } = await session(open.promise);
  const [client] = clients;
  const all = Array.from({ length: PENDING }, (_, n) => n);
  const seqs = await Promise.all(all.map((n) => client.call<{ seq: number }>(...saying(pid, n))));
  const isKept = (n: number) => n % 3 !== 1;
  await Promise.all(
    all.filter((n) => !isKept(n)).map((n) => client.call("session.withdraw", { pid, seq: seqs[n]?.seq })),
  );
  open.resolve();
  await settle();
  expect(read).toEqual(all.filter(isKept).map((n) => `turn ${n}`));
});
