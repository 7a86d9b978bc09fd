import { describe, expect, test } from "vitest";
import type { ProcessEvent } from "../../abi/events.ts";
import type { Program } from "../../abi/program.ts";
import { LIMITS } from "../../kernel/limits.ts";
import { asksFacet } from "../../kernel/process/facets/asks-facet.ts";
import { MessageDevice } from "../../kernel/testing/fake-devices.ts";
import { askWith } from "../../kernel/testing/scripted-permit.ts";
import { bytes, testKernel } from "../../kernel/testing/test-kernel.ts";
import { settle } from "../../kernel/testing/virtual-clock.ts";

const QUESTION = { text: "bash: npm test", detail: "", options: ["yes", "no", "always"] as const };
const IDLE: Program = (sys) =>
  new Promise<never>((_resolve, reject) =>
    sys.ending.addEventListener("abort", () => reject(sys.ending.reason)),
  );

async function watched(timeouts: { askMs?: number; detachedMs?: number } = {}) {
  const t = testKernel({ askTimeouts: () => ({ askMs: 0, detachedMs: 3_600_000, ...timeouts }) });
  t.programs.set("a", IDLE);
  const { pid, events } = await t.kernel.spawnWatched("a", null, { interactive: true });
  const proc = t.proc(pid);
  const never = new AbortController();
  const ask = (signal = never.signal) => t.kernel.asks.ask(proc, QUESTION, { signal });
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
    expect(t.kernel.info(proc).activity).toBe("blocked");
    const askId = "a_0000000000000001";
    await t.kernel.answer(askId, "yes");
    expect(await asked).toMatchObject({ answer: "yes", words: "" });
    expect((await read(events, 3)).slice(1)).toEqual([
      { event: "ask", pid: 1, ask_id: askId, ...QUESTION },
      { event: "ask_closed", pid: 1, ask_id: askId, answer: "yes" },
    ]);
    expect(proc.halt.openAsks).toBe(0);
  });

  test("a second answer is CONFLICT, an unknown question NOT_FOUND, no option INVALID", async () => {
    const { t, ask } = await watched();
    const asked = ask();
    const askId = "a_0000000000000001";
    await expect(t.kernel.answer(askId, "maybe" as "yes")).rejects.toMatchObject({ code: "INVALID" });
    await t.kernel.answer(askId, "no", "not now");
    await expect(t.kernel.answer(askId, "yes")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(t.kernel.answer("a_9", "yes")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await asked).toMatchObject({ answer: "no", words: "not now" });
    await expect(t.kernel.answer(askId, "yes")).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("two at once: blocked until both are answered", async () => {
    const { t, proc, ask } = await watched();
    const both = [ask(), ask()];
    await t.kernel.answer("a_0000000000000001", "yes");
    await both[0];
    expect(t.kernel.info(proc).activity).toBe("blocked");
    await t.kernel.answer("a_0000000000000002", "yes");
    await both[1];
    expect(t.kernel.info(proc).activity).not.toBe("blocked");
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

  test("waits for a client that has left, as long as the settings say, then is denied", async () => {
    const { t, events, ask } = await watched({ detachedMs: 60_000 });
    const asked = ask();
    await settle();
    events.close();
    await t.clock.advance(59_999);
    expect(t.kernel.asks.canAsk(t.proc(1))).toBe(true);
    await t.clock.advance(1);
    expect(await asked).toMatchObject({ answer: "no", nobody: expect.any(String) });
    expect(t.kernel.asks.canAsk(t.proc(1))).toBe(false);
    expect(t.clock.pending).toBe(0);
  });

  test("a client that comes back is shown what is open, and nothing is denied then", async () => {
    const { t, pid, events, ask } = await watched({ detachedMs: 60_000 });
    const asked = ask();
    await settle();
    events.close();
    await t.clock.advance(59_000);
    const back = t.kernel.attach(pid, { interactive: true });
    const [shown] = await read(back, 1);
    expect(shown).toMatchObject({ event: "ask", ask_id: "a_0000000000000001" });
    await t.clock.advance(120_000);
    await t.kernel.answer("a_0000000000000001", "yes");
    expect((await asked).answer).toBe("yes");
  });

  test("one who only looks on is not one who can answer", async () => {
    const { t, pid, events, ask } = await watched({ detachedMs: 1_000 });
    const onlooker = t.kernel.attach(pid, { interactive: false });
    const asked = ask();
    await settle();
    events.close();
    await t.clock.advance(1_000);
    expect((await asked).answer).toBe("no");
    onlooker.close();
  });

  test("nobody answers in time: denied, with the reason", async () => {
    const { t, ask } = await watched({ askMs: 5_000 });
    const asked = ask();
    await settle();
    await t.clock.advance(5_000);
    expect(await asked).toMatchObject({ answer: "no", nobody: "nobody answered within 5 s" });
    expect(t.clock.pending).toBe(0);
  });

  test("three answers in one tick: one wins, two are CONFLICT", async () => {
    const { t, ask } = await watched();
    const asked = ask();
    const askId = "a_0000000000000001";
    const answers = await Promise.allSettled([
      t.kernel.answer(askId, "no", "first"),
      t.kernel.answer(askId, "yes"),
      t.kernel.answer(askId, "always"),
    ]);
    expect(answers.map((each) => (each.status === "fulfilled" ? "won" : each.reason.code))).toEqual([
      "won",
      "CONFLICT",
      "CONFLICT",
    ]);
    expect(await asked).toMatchObject({ answer: "no", words: "first" });
  });

  test("an answer that cannot be kept is none: the question stays, and another may come", async () => {
    const { t, proc } = await watched();
    let isRefused = true;
    const close = async () => {
      if (isRefused) throw new Error("disk full");
      return "kept";
    };
    const asked = t.kernel.asks.ask(proc, QUESTION, { signal: new AbortController().signal, close });
    await expect(t.kernel.answer("a_0000000000000001", "yes")).rejects.toThrow("disk full");
    isRefused = false;
    expect(await t.kernel.answer("a_0000000000000001", "no")).toBe("kept");
    expect((await asked).answer).toBe("no");
  });

  test("is shown only once it is kept; one that cannot be kept is not asked", async () => {
    const { t, proc, events } = await watched();
    const kept = Promise.withResolvers<void>();
    const { signal } = new AbortController();
    const asked = t.kernel.asks.ask(proc, QUESTION, { signal, open: () => kept.promise });
    await settle();
    await expect(t.kernel.answer("a_0000000000000001", "yes")).rejects.toMatchObject({ code: "CONFLICT" });
    kept.resolve();
    await settle();
    expect((await read(events, 2))[1]).toMatchObject({ event: "ask" });
    await t.kernel.answer("a_0000000000000001", "yes");
    await asked;
    const refused = t.kernel.asks.ask(proc, QUESTION, {
      signal,
      open: () => Promise.reject(new Error("full")),
    });
    await expect(refused).rejects.toThrow("full");
  });

  test("an equal digest in one process joins; one that is given up leaves the other", async () => {
    const { t, proc } = await watched();
    const stop = new AbortController();
    const never = new AbortController().signal;
    const equal = { ...QUESTION, digest: "d" };
    const first = t.kernel.asks.ask(proc, equal, { signal: stop.signal });
    const second = t.kernel.asks.ask(proc, equal, { signal: never });
    const other = await t.start({ parentPid: proc.pid });
    const third = t.kernel.asks.ask(other.proc, equal, { signal: never });
    expect(proc.halt.openAsks).toBe(2);
    stop.abort();
    await expect(first).rejects.toThrow();
    await t.kernel.answer("a_0000000000000001", "yes");
    expect((await second).answer).toBe("yes");
    await t.kernel.answer("a_0000000000000002", "no");
    expect((await third).answer).toBe("no");
  });

  test("of a descendant waits like any, when the process its client follows has ended", async () => {
    const { t, pid, proc } = await watched({ detachedMs: 1_000 });
    const child = await t.start({ parentPid: pid });
    expect(t.kernel.asks.canAsk(child.proc)).toBe(true);
    const asked = t.kernel.asks.ask(child.proc, QUESTION, { signal: new AbortController().signal });
    await t.init.kill(pid, 1);
    await proc.done.promise;
    await t.clock.advance(1_000);
    expect((await asked).answer).toBe("no");
    expect(t.kernel.asks.canAsk(child.proc)).toBe(false);
  });

  test("of a grandchild shows the path to it, the gate's and its own; with nobody attached the one is denied, the other void", async () => {
    const { t, pid, events } = await watched();
    const { signal } = new AbortController();
    const edit = new MessageDevice("edit");
    edit.script.effects = [{ kind: "write", path: "/desk/a", change: "modify" }];
    t.kernel.mount("/bin/edit", edit);
    t.permit.answer = () => askWith(null);
    const items = [{ question: "Which?", header: "Pick", options: [], multi_select: false }];
    const child = await t.start({ parentPid: pid });
    const below = await t.start({ by: child.sys });
    const own = t.kernel.askPerson(below.pid, items, signal);
    await settle();
    const written = below.sys.write(await below.sys.open("/bin/edit", 2), bytes("{}"));
    const path = "agent-1 › agent-2 › agent-3";
    const shown = (await read(events, 3)).slice(1);
    expect(shown).toMatchObject([
      { event: "ask", pid: 3, path, questions: items },
      { event: "ask", pid: 3, path },
    ]);
    for (const each of shown) if (each.event === "ask") await t.kernel.answer(each.ask_id, "no");
    expect(await own).toEqual({ kind: "dismissed" });
    await expect(written).rejects.toMatchObject({ code: "PERMISSION" });
    const alone = await t.start();
    const other = await t.start({ by: alone.sys });
    expect(await t.kernel.askPerson(other.pid, items, signal)).toMatchObject({ kind: "nobody" });
    const refused = other.sys.write(await other.sys.open("/bin/edit", 2), bytes("{}"));
    await expect(refused).rejects.toMatchObject({ code: "PERMISSION" });
  });

  test("of an agent has its id again after a restart, until it is answered; another one has not", async () => {
    const items = (question: string) => [{ question, header: "Pick", options: [], multi_select: false }];
    const { t, pid, events } = await watched();
    const stop = new AbortController();
    // ids that the later kernel of this test does not come to
    for (let n = 0; n < 9; n++) t.kernel.ports.nonce();
    const first = t.kernel.askPerson(pid, items("Which?"), stop.signal).catch(() => undefined);
    const second = t.kernel.askPerson(pid, items("When?"), stop.signal);
    const [, which, when] = (await read(events, 3)) as { ask_id: string }[];
    await t.kernel.answer(when?.ask_id ?? "", "no");
    await second;
    stop.abort(new Error("as by kill -9"));
    await first;
    const later = await watched();
    let left = asksFacet.init();
    for (const { kind, body } of t.journal.records)
      left = asksFacet.folds[kind]?.(left, body as Record<string, unknown>, { n: 0 } as never) ?? left;
    later.t.kernel.asks.leftOpen(later.proc, left);
    for (const question of ["Whence?", "When?", "Which?"])
      void later.t.kernel.askPerson(later.pid, items(question), new AbortController().signal).catch(() => {});
    const asked = ((await read(later.events, 4)) as { ask_id: string }[])
      .slice(1)
      .map(({ ask_id }) => ask_id);
    expect(asked[2]).toBe(which?.ask_id);
    expect(left.size).toBe(1);
    expect(new Set([...asked, when?.ask_id]).size).toBe(4);
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
    expect(parent.proc.seed.session.canAsk).toBe(false);
    expect(t.kernel.asks.canAsk(parent.proc)).toBe(false);
  });

  test("64 of a session are shown, the rest wait in order", async () => {
    const { t, events, ask } = await watched();
    const asked = Array.from({ length: LIMITS.openAsks + 2 }, () => ask());
    const id = (n: number) => `a_${n.toString(16).padStart(16, "0")}`;
    await expect(t.kernel.answer(id(LIMITS.openAsks + 1), "yes")).rejects.toMatchObject({ code: "CONFLICT" });
    await t.kernel.answer(id(3), "yes");
    await settle();
    const shown = (await read(events, LIMITS.openAsks + 3)).flatMap((event) =>
      event.event === "ask" ? [event.ask_id] : [],
    );
    expect(shown.at(-1)).toBe(id(LIMITS.openAsks + 1));
    await t.kernel.answer(id(LIMITS.openAsks + 1), "no");
    expect(t.proc(1).halt.openAsks).toBe(LIMITS.openAsks);
    t.kernel.asks.abandon(t.proc(1).seed.session);
    await Promise.all(asked);
    expect(t.proc(1).halt.openAsks).toBe(0);
  });
});
