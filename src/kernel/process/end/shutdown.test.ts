/** What a daemon that stops in order does with a paused agent: it rests, and the next one brings it back. */
import { describe, expect, test } from "vitest";
import { EXIT } from "../../../abi/process.ts";
import type { Program } from "../../../abi/program.ts";
import type { Sys } from "../../../abi/sys.ts";
import { LIMITS } from "../../limits.ts";
import { type GuardedBench, guardedBench } from "../../testing/guarded.ts";
import { askWith } from "../../testing/scripted-permit.ts";
import { bytes, NOTHING_LEFT, type TestKernel, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

const PAUSE = 4;
const RESTING = { ...NOTHING_LEFT, scratch: 1 };
const GRACE_MS = 10_000;

/** A program that does `step` over and over, and holds where the loop of an agent does. */
const looping =
  (step: (sys: Sys) => Promise<void>): Program =>
  async (sys) => {
    for (;;) {
      await sys.waitIfPaused();
      await step(sys);
    }
  };

async function afterStop(t: TestKernel) {
  await t.journal.close();
  const next = testKernel({}, t.journal);
  const { lost, restored } = await next.kernel.recover();
  for (const { pid } of restored) await next.proc(pid).past.recall();
  return { next, lost, pids: restored.map(({ pid }) => pid) };
}

describe("shutdown() of a paused agent", () => {
  test("takes no time, ends nothing of it, tells who waits, and leaves no trace in memory", async () => {
    const t = testKernel();
    t.programs.set(
      "work",
      looping(async () => {}),
    );
    const { pid, events } = await t.kernel.spawnWatched("work", null, {});
    await t.init.kill(pid, PAUSE);
    const waiting = expect(t.kernel.waitFor(pid, new AbortController().signal)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "the daemon stopped; process 1 rests paused",
      fact: { kind: "paused", pid: 1 },
    });
    await t.kernel.shutdown(GRACE_MS);
    await waiting;
    const heard = await Array.fromAsync(events);
    expect(heard.map(({ event }) => event)).toEqual(["spawn", "paused", "error"]);
    expect([t.clock.mono(), t.census(), t.logs]).toEqual([0, RESTING, []]);
    expect(t.journal.kinds(pid)).not.toContain("process.exited");
    const { pids, lost } = await afterStop(t);
    expect([pids, lost]).toEqual([[pid], []]);
    expect(t.journal.bodies("kernel.boot")).toEqual([{ epoch: 1, clean: true }]);
  });

  test("one that came back and has not gone on rests as it is", async () => {
    const t = testKernel();
    const { pid } = await t.start();
    await t.init.kill(pid, PAUSE);
    t.journal.crash();
    const { next } = await afterStop(t);
    await next.kernel.shutdown(GRACE_MS);
    expect([next.clock.mono(), next.census(), next.logs]).toEqual([0, RESTING, []]);
    expect((await afterStop(next)).pids).toEqual([pid]);
  });

  test("ends what works, also between paused ones", async () => {
    const t = testKernel();
    const top = await t.start();
    const child = await t.start({ by: top.sys });
    const below = await t.start({ by: child.sys });
    for (const { pid } of [top, below]) await t.init.kill(pid, PAUSE);
    const down = t.kernel.shutdown(GRACE_MS);
    await t.clock.advance(GRACE_MS);
    await down;
    expect([top.proc.exit, child.proc.exit?.code, below.proc.exit?.code]).toEqual([null, 143, 143]);
    const { next, pids } = await afterStop(t);
    expect(pids).toEqual([top.pid]);
    expect(next.kernel.table.childrenOf(top.pid)).toEqual([]);
  });

  test("ends one that has not read its input: nobody could read it later", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start({ stdin: bytes("data") });
    await t.init.kill(pid, PAUSE);
    await t.kernel.shutdown(GRACE_MS);
    expect(proc.exit?.code).toBe(143);
  });

  test("ends one that goes on meanwhile", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start({ stubborn: true });
    await t.init.kill(pid, PAUSE);
    const down = t.kernel.shutdown(GRACE_MS);
    await t.clock.advance(100);
    await t.init.kill(pid, 5);
    await t.clock.advance(GRACE_MS);
    await t.clock.advance(5_000);
    await down;
    expect(proc.exit?.code).toBe(137);
  });

  test("does not wait for one for ever that does not come to rest", async () => {
    const t = testKernel();
    const { pid } = await t.start({ stubborn: true });
    await t.init.kill(pid, PAUSE);
    const down = t.kernel.shutdown(GRACE_MS);
    await t.clock.advance(GRACE_MS + 5_000);
    await down;
    expect(t.census()).toEqual(RESTING);
    expect((await afterStop(t)).pids).toEqual([pid]);
  });
});

describe("shutdown() with a call of a paused agent under way", () => {
  /** Its program calls the tool once, and tells what came of it. */
  async function calling(): Promise<{
    bench: GuardedBench;
    ran: string[];
    acting: PromiseWithResolvers<void>;
  }> {
    const bench = await guardedBench({ interactive: true });
    const acting = Promise.withResolvers<void>();
    const ran: string[] = [];
    bench.acts(async (_sys, { signal }) => {
      ran.push("begun");
      signal.addEventListener("abort", () => acting.reject(signal.reason));
      await acting.promise;
      ran.push("over");
    });
    return { bench, ran, acting };
  }
  /** As the loop of an agent: the result of a call is told before the pause is heeded. */
  const once = async (bench: GuardedBench): Promise<void> => {
    const { sys } = bench;
    const said = await bench.call().then(
      () => "done",
      () => "failed",
    );
    sys.addToCheckpoint(said);
    await sys.waitIfPaused();
  };

  test("lets it finish within the grace: its result is on record", async () => {
    const { bench, ran, acting } = await calling();
    const { t, pid } = bench;
    void once(bench).catch(() => {});
    await settle();
    await t.init.kill(pid, PAUSE);
    const down = t.kernel.shutdown(GRACE_MS);
    await t.clock.advance(3_000);
    acting.resolve();
    await down;
    expect([ran, t.clock.mono()]).toEqual([["begun", "over"], 3_000]);
    const { next } = await afterStop(t);
    await next.proc(pid).past.recall();
    expect(next.proc(pid).past.restored?.since).toEqual([{ kind: "effect" }, { kind: "part", part: "done" }]);
    expect(t.journal.bodies("call.unknown")).toEqual([]);
  });

  test("cuts it off after the grace: to the next daemon it is unknown", async () => {
    const { bench, ran } = await calling();
    const { t, pid } = bench;
    void once(bench).catch(() => {});
    await settle();
    await t.init.kill(pid, PAUSE);
    const down = t.kernel.shutdown(GRACE_MS);
    await t.clock.advance(GRACE_MS);
    await down;
    expect(ran).toEqual(["begun"]);
    const { next } = await afterStop(t);
    await next.proc(pid).past.recall();
    expect(next.proc(pid).past.restored?.since).toEqual([{ kind: "effect" }]);
  });

  test("takes back a question at once: it is asked again when the process goes on", async () => {
    const { bench, ran } = await calling();
    const { t, pid } = bench;
    t.permit.answer = () => askWith(null);
    void once(bench).catch(() => {});
    for await (const { event } of bench.events) if (event === "ask") break;
    await t.init.kill(pid, PAUSE);
    await t.kernel.shutdown(GRACE_MS);
    expect([ran, t.clock.mono()]).toEqual([[], 0]);
    const { next } = await afterStop(t);
    await next.proc(pid).past.recall();
    expect(next.proc(pid).past.restored?.since).toEqual([]);
  });

  test("one that is held at the gate has not begun", async () => {
    const { bench, ran } = await calling();
    const { t, pid } = bench;
    await t.init.kill(pid, PAUSE);
    void once(bench).catch(() => {});
    await settle();
    await t.kernel.shutdown(GRACE_MS);
    expect([ran, t.clock.mono()]).toEqual([[], 0]);
    const { next } = await afterStop(t);
    await next.proc(pid).past.recall();
    expect(next.proc(pid).past.restored?.since).toEqual([]);
  });
});

describe("shutdown() of what serves others", () => {
  test("comes last: nobody is left who calls it, and what it says is still heard", async () => {
    const t = testKernel();
    const told: string[] = [];
    t.programs.set("work", async (sys) => {
      await new Promise((resolve) => sys.ending.addEventListener("abort", resolve));
      await settle();
      told.push("agent over");
      return EXIT.completed;
    });
    const service = await t.kernel.services.start({
      name: "server",
      intent: "serve",
      run: async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        told.push("service told");
        return EXIT.completed;
      },
    });
    const agent = await t.init.spawn("work", null);
    await t.kernel.shutdown(GRACE_MS);
    expect(told).toEqual(["agent over", "service told"]);
    const ends = [agent, service].filter((pid) => t.journal.kinds(pid).includes("process.reaped"));
    expect([ends, t.census()]).toEqual([[agent, service], NOTHING_LEFT]);
  });

  test("one that heeds nothing is ended by force, in its own short time", async () => {
    const t = testKernel();
    await t.kernel.services.start({
      name: "server",
      intent: "serve",
      run: () => new Promise(() => {}),
    });
    const down = t.kernel.shutdown(GRACE_MS);
    await t.clock.advance(LIMITS.serviceGraceMs + LIMITS.loopGraceMs);
    await down;
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});
