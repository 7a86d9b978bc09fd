import { describe, expect, test } from "vitest";
import type { ProcessEvent } from "../../abi/events.ts";
import { LIMITS } from "../limits.ts";
import { testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

const QUESTION = { text: "bash: npm test", detail: "", options: ["yes", "no", "always"] as const };
const IDLE = (context: { signal: AbortSignal }) =>
  new Promise<never>((_resolve, reject) =>
    context.signal.addEventListener("abort", () => reject(context.signal.reason)),
  );

async function watched() {
  const t = testKernel();
  t.programs.set("a", IDLE);
  const { pid, events } = await t.kernel.spawnWatched("a", null, { interactive: true });
  const proc = t.proc(pid);
  const never = new AbortController();
  const ask = (signal = never.signal) => t.kernel.asks.ask(proc, QUESTION, signal);
  return { t, pid, proc, events, ask };
}

async function read(events: AsyncIterable<ProcessEvent>, count: number): Promise<ProcessEvent[]> {
  const iterator = events[Symbol.asyncIterator]();
  const heard: ProcessEvent[] = [];
  while (heard.length < count) heard.push((await iterator.next()).value);
  return heard;
}

describe("ask()", () => {
  test("shows the question, takes the first answer, tells that it is closed", async () => {
    const { t, proc, events, ask } = await watched();
    const asked = ask();
    expect(proc.info(0).activity).toBe("blocked");
    const askId = "a_0000000000000001";
    await t.kernel.answer(askId, "yes");
    expect(await asked).toEqual({ answer: "yes", words: "" });
    expect((await read(events, 3)).slice(1)).toEqual([
      { event: "ask", pid: 1, ask: { askId, pid: 1, ...QUESTION } },
      { event: "ask_closed", pid: 1, askId, answer: "yes" },
    ]);
    expect(proc.openAsks).toBe(0);
  });

  test("a second answer is CONFLICT, an unknown question NOT_FOUND, no option INVALID", async () => {
    const { t, ask } = await watched();
    const asked = ask();
    const askId = "a_0000000000000001";
    await expect(t.kernel.answer(askId, "maybe" as "yes")).rejects.toMatchObject({ code: "INVALID" });
    await t.kernel.answer(askId, "no", "not now");
    await expect(t.kernel.answer(askId, "yes")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(t.kernel.answer("a_9", "yes")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await asked).toEqual({ answer: "no", words: "not now" });
    await expect(t.kernel.answer(askId, "yes")).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("two at once: blocked until both are answered", async () => {
    const { t, proc, ask } = await watched();
    const both = [ask(), ask()];
    await t.kernel.answer("a_0000000000000001", "yes");
    await both[0];
    expect(proc.info(0).activity).toBe("blocked");
    await t.kernel.answer("a_0000000000000002", "yes");
    await both[1];
    expect(proc.info(0).activity).not.toBe("blocked");
  });

  test("an abort takes the question back", async () => {
    const { t, events, ask } = await watched();
    const stop = new AbortController();
    const asked = expect(ask(stop.signal)).rejects.toThrow("aborted");
    stop.abort();
    await asked;
    expect((await read(events, 3))[2]).toMatchObject({ event: "ask_closed", answer: null });
    await expect(t.kernel.answer("a_0000000000000001", "yes")).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("is denied when the last client goes", async () => {
    const { events, ask } = await watched();
    const asked = ask();
    events.close();
    expect((await asked).answer).toBe("no");
  });

  test("of a descendant is denied when the process its client follows has ended", async () => {
    const { t, pid, proc } = await watched();
    const child = await t.start({ parentPid: pid });
    expect(t.kernel.asks.canAsk(child.proc)).toBe(true);
    const asked = t.kernel.asks.ask(child.proc, QUESTION, new AbortController().signal);
    await t.init.kill(pid, 1);
    await proc.done.promise;
    expect((await asked).answer).toBe("no");
    expect(t.kernel.asks.canAsk(child.proc)).toBe(false);
  });

  test("remembers as many closed questions as its limit says", async () => {
    const { t, ask } = await watched();
    const id = (n: number) => `a_${n.toString(16).padStart(16, "0")}`;
    for (let n = 1; n <= LIMITS.answeredAsks + 1; n++) {
      const asked = ask();
      await t.kernel.answer(id(n), "yes");
      await asked;
    }
    await expect(t.kernel.answer(id(1), "yes")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(t.kernel.answer(id(2), "yes")).rejects.toMatchObject({ code: "CONFLICT" });
  });
});

describe("canAsk()", () => {
  test("needs a client that can answer", async () => {
    const t = testKernel();
    t.programs.set("a", IDLE);
    const { pid } = await t.kernel.spawnWatched("a", null, {});
    expect(t.kernel.asks.canAsk(t.proc(pid))).toBe(false);
    const alone = await t.start({ interactive: true });
    expect(t.kernel.asks.canAsk(alone.proc)).toBe(false);
  });

  test("a child cannot make itself the one who is asked", async () => {
    const t = testKernel();
    t.programs.set("b", IDLE);
    const parent = await t.start();
    await t.kernel.spawnWatched("b", null, { parentPid: parent.pid, interactive: true });
    expect(parent.proc.seed.session.approvers).toBeNull();
  });

  test("64 open questions are enough", async () => {
    const { t, proc, ask } = await watched();
    const asked = Array.from({ length: LIMITS.openAsks }, () => ask().catch(() => {}));
    expect(t.kernel.asks.canAsk(proc)).toBe(false);
    t.kernel.asks.abandon(proc.seed.session);
    await Promise.all(asked);
    await settle();
    expect(t.kernel.asks.canAsk(proc)).toBe(true);
  });
});
