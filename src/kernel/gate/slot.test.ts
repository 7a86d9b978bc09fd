import { describe, expect, test } from "vitest";
import type { LaneReport } from "../../abi/lanes.ts";
import { SIGNALS } from "../../abi/process.ts";
import { LIMITS } from "../limits.ts";
import { bytes, type Started, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";
import { classOf } from "./slot.ts";

/** Processes whose calls of the model need one of two slots, and end when the test says so. */
async function laneBench(options: object = {}) {
  const t = testKernel();
  const { script } = t.model;
  script.effects = [{ kind: "llm", device: "/dev/llm/fake", maxTokens: 10 }];
  const lane = { lane: "/dev/llm/fake m", input: 10, output: 10, limits: { maxConcurrent: 2 } };
  script.plan = { effectClass: "once", lane, reserve: { tokens: 100, usd: null } };
  script.charge = () => ({ tokens: 20, usd: null });
  const acts: { readonly end: () => void; readonly lane: LaneReport | undefined }[] = [];
  script.act = async (_data, { signal, lane: held }) => {
    const over = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => over.reject(signal.reason));
    acts.push({ end: over.resolve, lane: held });
    await over.promise;
  };
  const started = [];
  for (let each = 0; each < 4; each++) started.push(await t.start(options));
  const call = async ({ sys }: Started): Promise<unknown> => {
    const fd = await sys.open("/dev/llm/fake", 2);
    return sys.write(fd, bytes("{}")).catch((error: unknown) => error);
  };
  const view = () => t.kernel.scheduler.view("/dev/llm/fake")[0];
  return { t, acts, call, view, started: started as [Started, Started, Started, Started] };
}

describe("slotFor()", () => {
  test("holds a slot for the attempt alone; whoever waits has reserved nothing", async () => {
    const { acts, call, view, started } = await laneBench({ contextBudget: 1_000 });
    const calls = started.map(call);
    await settle();
    expect(acts).toHaveLength(2);
    expect(started.map(({ sys }) => sys.account().reserved)).toEqual([100, 100, 0, 0]);
    expect(view()?.waiting.map(({ pid, position }) => [pid, position])).toEqual([
      [started[2].pid, 1],
      [started[3].pid, 2],
    ]);
    for (let ended = 0; ended < 4; ended++) {
      acts[ended]?.end();
      await settle();
    }
    expect(await Promise.all(calls)).toEqual([undefined, undefined, undefined, undefined]);
    expect(view()?.lane).toMatchObject({ used: 0, waiting: 0 });
  });

  test("whoever gets a user attached while it waits comes first", async () => {
    const { t, call, view, started } = await laneBench();
    for (const each of started) void call(each);
    await settle();
    const attached = t.kernel.attach(started[3].pid, { interactive: true });
    expect(view()?.waiting.map(({ pid, class: name }) => [pid, name])).toEqual([
      [started[3].pid, "interactive"],
      [started[2].pid, "foreground"],
    ]);
    attached.close();
  });

  test("a killed holder frees its slot, even if its device goes on", async () => {
    const { t, acts, call, started } = await laneBench();
    t.model.script.act = async () => {
      acts.push({ end: () => {}, lane: undefined });
      await new Promise(() => {});
    };
    for (const each of started) void call(each);
    await settle();
    expect(acts).toHaveLength(2);
    void t.init.kill(started[0].pid, SIGNALS.SIGKILL);
    await settle();
    expect(acts).toHaveLength(3);
  });

  test("a run that is interrupted while it waits leaves the queue, and has spent nothing", async () => {
    const { t, acts, call, view, started } = await laneBench({ contextBudget: 1_000 });
    const [first, second, third, fourth] = started;
    for (const each of [first, second]) void call(each);
    await settle();
    const run = new AbortController();
    const fd = await third.sys.open("/dev/llm/fake", 2);
    const waiting = third.sys.write(fd, bytes("{}"), run.signal).catch((error: unknown) => error);
    void call(fourth);
    await settle();
    expect(view()?.waiting.map(({ pid }) => pid)).toEqual([third.pid, fourth.pid]);
    run.abort();
    expect(await waiting).toMatchObject({ code: "CANCELLED" });
    expect(view()?.waiting.map(({ pid }) => pid)).toEqual([fourth.pid]);
    expect(third.sys.account()).toMatchObject({ used: 0, reserved: 0 });
    const intents = t.journal.records.filter(({ kind }) => kind === "call.intent");
    expect(intents.map(({ pid }) => pid)).not.toContain(third.pid);
    acts[0]?.end();
    await settle();
    expect(acts).toHaveLength(3);
  });

  test("a paused process gets no slot, and keeps its place", async () => {
    const { t, acts, call, view, started } = await laneBench();
    const [first, second, third, fourth] = started;
    void call(first);
    void call(second);
    await settle();
    await t.clock.advance(5);
    void call(third);
    await settle();
    third.proc.pause(t.clock.mono());
    acts[0]?.end();
    await settle();
    expect(view()?.lane).toMatchObject({ used: 1, waiting: 0 });
    void call(first);
    await settle();
    await t.clock.advance(5);
    void call(fourth);
    third.proc.resume(t.clock.mono());
    await settle();
    expect(view()?.waiting.map(({ pid, waitedMs }) => [pid, waitedMs])).toEqual([
      [third.pid, 5],
      [fourth.pid, 0],
    ]);
    t.kernel.end(third.proc, { code: 1, reason: "", kind: "done" });
  });

  test("a call that cannot be paid gives its slot back", async () => {
    const { acts, call, view, started } = await laneBench({ contextBudget: 50 });
    expect(await call(started[0])).toMatchObject({ code: "BUDGET" });
    expect(acts).toEqual([]);
    expect(view()?.lane).toMatchObject({ used: 0 });
  });

  test("a refusal closes the lane for all processes; then one probes", async () => {
    const { t, acts, call, started } = await laneBench();
    for (const each of started) void call(each);
    await settle();
    expect(acts[0]?.lane?.refused({ retryAfterMs: 7_000, error: new Error("429") })).toBe(7_000);
    for (const { end } of acts) end();
    await t.clock.advance(6_999);
    expect(acts).toHaveLength(2);
    await t.clock.advance(1);
    expect(acts).toHaveLength(3);
    acts[2]?.end();
    await settle();
    expect(acts).toHaveLength(4);
  });

  test("tells those who follow after a second, once", async () => {
    const { t, acts, call, started } = await laneBench();
    const third = started[2];
    const events = t.kernel.attach(third.pid, { interactive: false });
    for (const each of started) void call(each);
    await t.clock.advance(LIMITS.laneTellMs - 1);
    expect(t.kernel.info(third.proc).slot).toBeUndefined();
    await t.clock.advance(1);
    expect(t.kernel.info(third.proc).slot).toEqual({ lane: "fake m", waitedMs: 1_000 });
    const listed = (await t.init.listProcs()).find(({ pid }) => pid === third.pid);
    expect(listed?.slot).toEqual({ lane: "fake m", waitedMs: 1_000, place: 1 });
    await t.clock.advance(5_000);
    for (let ended = 0; ended < 4; ended++) {
      acts[ended]?.end();
      await settle();
    }
    const after = t.kernel.info(third.proc);
    third.end();
    const told = [];
    for await (const event of events) if (event.event === "sched.waiting") told.push(event);
    expect(told).toMatchObject([
      {
        pid: third.pid,
        class: "foreground",
        position: 1,
        waitedMs: 1_000,
        lane: { slots: 2, used: 2, waiting: 2 },
      },
    ]);
    expect(after.slot).toBeUndefined();
  });
});

describe("classOf()", () => {
  test("follows who waits: an attached user, directly or through awaited children; the user's others; nobody", async () => {
    const t = testKernel();
    const main = await t.start();
    const child = await t.start({ by: main.sys });
    const grandchild = await t.start({ by: child.sys });
    const classes = () => [main, child, grandchild].map(({ proc }) => classOf(t.kernel, proc));
    expect(classes()).toEqual(["foreground", "background", "background"]);
    const attached = t.kernel.attach(main.pid, { interactive: true });
    expect(classes()).toEqual(["interactive", "background", "background"]);
    void main.sys.wait(child.pid).catch(() => {});
    await settle();
    expect(classes()).toEqual(["interactive", "interactive", "background"]);
    void child.sys.wait(grandchild.pid).catch(() => {});
    await settle();
    expect(classes()).toEqual(["interactive", "interactive", "interactive"]);
    attached.close();
    expect(classes()).toEqual(["foreground", "foreground", "foreground"]);
  });
});
