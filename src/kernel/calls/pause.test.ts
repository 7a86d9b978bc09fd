/** What a pause holds, and what it lets finish. */
import { describe, expect, test } from "vitest";
import { EXIT } from "../../abi/process.ts";
import { MessageDevice } from "../testing/fake-devices.ts";
import { guardedBench } from "../testing/guarded.ts";
import { askWith } from "../testing/scripted-permit.ts";
import { bytes, NOTHING_LEFT, type Started, type TestKernel, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

async function paused(t: TestKernel): Promise<Started & { child: Started }> {
  const started = await t.start();
  const child = await t.start({ by: started.sys });
  await t.init.kill(started.pid, 4);
  return { ...started, child };
}

/** Calls of the paused process that would begin something. */
const EFFECTS = {
  open: ({ sys }) => sys.open("/dev/llm/fake", 2),
  spawn: ({ sys }) => sys.spawn("another", null),
  kill: ({ sys, child }) => sys.kill(child.pid, 1),
  signal: ({ sys, child }) => sys.signal(child.pid, 1),
  joinGroup: ({ sys, pid }) => sys.joinGroup(pid, "team"),
} as const satisfies Record<string, (of: Started & { child: Started }) => Promise<unknown>>;
const NAMES = Object.keys(EFFECTS) as (keyof typeof EFFECTS)[];

describe("while a process is paused", () => {
  test.each(NAMES)("%s() begins when it goes on, and not before", async (name) => {
    const t = testKernel();
    const of = await paused(t);
    let isOver = false;
    const call = EFFECTS[name](of).then(() => {
      isOver = true;
    });
    await t.clock.advance(60_000);
    expect([isOver, t.model.live, t.kernel.table.size]).toEqual([false, 2, 2]);
    expect([of.child.proc.ending.verdict, t.kernel.groups.of(of.proc).size]).toEqual([null, 0]);
    await t.init.kill(of.pid, 5);
    await call;
    expect(isOver).toBe(true);
  });

  test.each(NAMES)("%s() that is held there is CANCELLED by TERM, and the exit is 143", async (name) => {
    const t = testKernel();
    const of = await paused(t);
    const call = expect(EFFECTS[name](of)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await t.init.kill(of.pid, 1);
    await call;
    expect(await t.init.wait(of.pid)).toEqual(EXIT.sigterm);
    expect([t.model.live, of.child.proc.ending.verdict]).toEqual([1, null]);
    of.child.end();
    await t.init.wait(of.child.pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("a call that goes on with it does not act after its end, however close that comes", async () => {
    for (let turns = 0; turns < 16; turns++) {
      const t = testKernel();
      const of = await paused(t);
      const call = of.sys.kill(of.child.pid, 1).catch((error: { code?: string }) => error.code);
      await settle();
      void t.kernel.deliver(of.proc, 5);
      for (let n = 0; n < turns; n++) await null;
      const before = of.child.proc.ending.verdict;
      void t.kernel.deliver(of.proc, 1);
      const met = await call;
      expect(of.child.proc.ending.verdict, `${turns} turns`).toBe(before);
      expect(met).toBe(before === null ? "CANCELLED" : undefined);
    }
  });

  test("what only ends or asks is not held", async () => {
    const t = testKernel();
    const { sys, pid, child, proc } = await paused(t);
    await sys.listProcs();
    await sys.sigBlock(child.pid, 1);
    child.end();
    await sys.wait(child.pid);
    await sys.sigUnblock(pid, 5);
    expect(proc.isPaused).toBe(true);
  });

  test("the trace of a call that was held begins when it went on", async () => {
    const t = testKernel();
    const { sys, pid, end, proc } = await t.start();
    const reader = t.kernel.attachDebug(pid, { all: true });
    await t.init.kill(pid, 4);
    const call = sys.open("/dev/llm/fake", 2);
    await t.clock.advance(500);
    await t.init.kill(pid, 5);
    await call;
    end();
    await proc.done.promise;
    await t.init.reap(pid);
    const events = (await Array.fromAsync(reader)).slice(1);
    expect(events).toMatchObject([{ syscall: "Open", timestampMs: 500, durationMs: 0 }]);
  });

  test("a write under way finishes and is journalled; the next one waits", async () => {
    const bench = await guardedBench();
    const acting = Promise.withResolvers<void>();
    bench.acts(() => acting.promise);
    const first = bench.call();
    await settle();
    await bench.t.init.kill(bench.pid, 4);
    const second = bench.call();
    acting.resolve();
    await first;
    await settle();
    expect(bench.tool.written).toHaveLength(1);
    expect(bench.t.journal.kinds(bench.pid).slice(-2)).toEqual(["signal", "call.result"]);
    await bench.t.init.kill(bench.pid, 5);
    await second;
    expect(bench.tool.written).toHaveLength(2);
  });

  test("a write that waited for its turn begins when the process goes on", async () => {
    const bench = await guardedBench();
    const acting = Promise.withResolvers<void>();
    bench.acts(() => acting.promise);
    const both = Promise.all([bench.call(), bench.call()]);
    await settle();
    await bench.t.init.kill(bench.pid, 4);
    acting.resolve();
    await settle();
    expect(bench.tool.written).toHaveLength(1);
    expect(bench.t.journal.kinds(bench.pid).filter((kind) => kind === "call.intent")).toHaveLength(1);
    await bench.t.init.kill(bench.pid, 5);
    await both;
    expect(bench.tool.written).toHaveLength(2);
  });

  test("a write that is permitted meanwhile sets nothing aside and begins when the process goes on", async () => {
    const bench = await guardedBench({ interactive: true, contextBudget: 1_000 });
    bench.tool.script.plan = { reserve: { tokens: 500, usd: null } };
    bench.t.permit.answer = () => askWith(null);
    const call = bench.call();
    await settle();
    await bench.t.init.kill(bench.pid, 4);
    const events: string[] = [];
    for await (const event of bench.events) {
      events.push(event.event);
      if (event.event !== "ask") continue;
      await bench.t.kernel.answer(event.ask_id, "yes");
      break;
    }
    await settle();
    expect([bench.tool.written, bench.sys.account().reserved]).toEqual([[], 0]);
    await bench.t.init.kill(bench.pid, 5);
    await call;
    expect(bench.tool.written).toEqual(["{}"]);
  });

  test("the same ended by TERM there does not act", async () => {
    const bench = await guardedBench();
    const acting = Promise.withResolvers<void>();
    bench.acts(() => acting.promise);
    const first = bench.call();
    const second = expect(bench.call()).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await bench.t.init.kill(bench.pid, 4);
    acting.resolve();
    await first;
    await settle();
    await bench.t.init.kill(bench.pid, 1);
    await second;
    expect(bench.tool.written).toHaveLength(1);
    expect((await bench.proc.done.promise).code).toBe(143);
  });

  test("a tool that runs may go on: its calls belong to the one that was begun", async () => {
    const bench = await guardedBench();
    const going = Promise.withResolvers<void>();
    bench.acts(async (sys) => {
      await going.promise;
      const fd = await sys.open("/dev/fs", 2);
      await sys.write(fd, bytes("x"));
    });
    const call = bench.call();
    await settle();
    await bench.t.init.kill(bench.pid, 4);
    going.resolve();
    await call;
    expect(bench.files.written).toEqual(["x"]);
    expect(bench.proc.isPaused).toBe(true);
  });

  test("deadlines stand still", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start({ timeoutMs: 1_000 });
    await t.clock.advance(900);
    await t.init.kill(pid, 4);
    await t.clock.advance(100_000);
    expect([proc.state, t.kernel.info(proc).activity]).toEqual(["running", "paused"]);
    await t.init.kill(pid, 5);
    await t.clock.advance(99);
    expect(proc.state).toBe("running");
    await t.clock.advance(1);
    expect((await t.init.wait(pid)).reason).toBe("timeout");
  });

  test("nothing is left on the process by calls that gave up waiting", async () => {
    const t = testKernel();
    t.kernel.mount("/dev/m", new MessageDevice());
    const { sys, pid, proc } = await t.start();
    await t.init.kill(pid, 4);
    const { signal } = proc.abort;
    let listeners = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    for (let n = 0; n < 20; n++) {
      const stop = new AbortController();
      const call = expect(sys.open("/dev/m", 2, stop.signal)).rejects.toMatchObject({ code: "CANCELLED" });
      stop.abort();
      await call;
    }
    expect([listeners, proc.fds.size]).toEqual([0, 1]);
  });
});
