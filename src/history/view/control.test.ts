/** Requests of the user about a context, over a program that takes and answers them as the test says. */
import { expect, test } from "vitest";
import { isMemoryOff } from "../../kernel/process/memory-off.ts";
import { testKernel } from "../../kernel/testing/test-kernel.ts";

const never = new AbortController().signal;
const UNDO = { op: "undo" } as const;

async function waiting() {
  const t = testKernel({ sessionRestMs: () => 1_000 });
  const started = await t.start({ session: true });
  return { t, ...started };
}

test("a program that waits for a message is disturbed, answers, and does not rest meanwhile", async () => {
  const { t, sys, pid, proc } = await waiting();
  const received = sys.recv({ orViewRequest: true }, sys.ending);
  received.catch(() => {});
  const asked = t.kernel.views.ask(pid, UNDO, { signal: never });
  await expect(received).rejects.toMatchObject({ code: "CANCELLED" });
  expect(sys.hasViewRequest()).toBe(true);
  // the next receiving is refused, too, until it is answered
  await expect(sys.recv({ orViewRequest: true }, sys.ending)).rejects.toMatchObject({ code: "CANCELLED" });
  t.kernel.idle(proc);
  await t.clock.advance(5_000);
  expect(t.kernel.sessions.isHere(pid)).toBe(true);
  const request = await sys.viewRequest();
  expect(request?.request).toEqual(UNDO);
  sys.viewAnswer(request?.id ?? 0, { ok: true, before: 9, after: 90 });
  expect(await asked).toEqual({ ok: true, before: 9, after: 90 });
  expect(sys.hasViewRequest()).toBe(false);
});

test("one request at a time; one whose client has left is withdrawn; a refusal keeps its code", async () => {
  const { t, sys, pid } = await waiting();
  const gone = new AbortController();
  const first = t.kernel.views.ask(pid, UNDO, { signal: gone.signal });
  const second = t.kernel.views.ask(pid, UNDO, { signal: never });
  await expect(second).rejects.toMatchObject({ code: "CONFLICT" });
  gone.abort();
  await expect(first).rejects.toThrow();
  expect(await sys.viewRequest()).toBeNull();
  const third = t.kernel.views.ask(pid, UNDO, { signal: never });
  const request = await sys.viewRequest();
  sys.viewAnswer(request?.id ?? 0, { ok: false, code: "NOT_FOUND", message: "nothing to undo" });
  await expect(third).rejects.toMatchObject({ code: "NOT_FOUND", message: "nothing to undo" });
});

test("a process that ends before it answers, that is paused, has ended or never was, refuses", async () => {
  const { t, end, pid } = await waiting();
  const asked = t.kernel.views.ask(pid, UNDO, { signal: never });
  end();
  await expect(asked).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(t.kernel.views.ask(pid, UNDO, { signal: never })).rejects.toMatchObject({ code: "CONFLICT" });
  const { pid: other, proc } = await t.start();
  proc.pause(0);
  await expect(t.kernel.views.ask(other, UNDO, { signal: never })).rejects.toThrow("is paused");
  const none = t.kernel.views.ask(99 as typeof pid, UNDO, { signal: never });
  await expect(none).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("memory is closed to a process before its program knows, and opened after; what it starts has it closed for good", async () => {
  const { t, sys, pid, proc } = await waiting();
  const turned = async (on: boolean) => {
    const asked = t.kernel.views.ask(pid, { op: "memory", on }, { signal: never });
    let request = await sys.viewRequest();
    while (request === null) request = await sys.viewRequest();
    const meanwhile = isMemoryOff(proc);
    sys.viewAnswer(request.id, { ok: true, before: 9, after: 9 });
    await asked;
    return [meanwhile, isMemoryOff(proc)];
  };
  expect(await turned(false)).toEqual([true, true]);
  const child = await t.start({ by: sys });
  expect(await turned(true)).toEqual([true, false]);
  expect([isMemoryOff(child.proc), child.proc.seed.rights.noMemory]).toEqual([true, true]);
  expect(t.journal.bodies("process.memory")).toEqual([{ off: true }, { off: false }]);
});
