import { describe, expect, test, vi } from "vitest";
import { PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import { ByteDevice } from "../../testing/fake-devices.ts";
import { NOTHING_LEFT, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";
import { reapProcess } from "./reap.ts";

describe("reaping", () => {
  test("two waiters, reap and the reaper at once: every step once, equal statuses", async () => {
    const t = testKernel();
    const { pid, proc, end } = await t.start();
    const free = vi.spyOn(t.kernel.contexts, "free");
    const dead = vi.spyOn(proc.life, "bury");
    const waiters = [t.init.wait(pid), t.init.wait(pid)];
    end();
    await proc.done.promise;
    t.kernel.offer(proc, "now");
    await Promise.all([t.init.reap(pid), t.init.reap(pid)]);
    const [a, b] = await Promise.all(waiters);
    expect(a).toEqual({ code: 0, reason: "completed", kind: "done" });
    expect(b).toBe(a);
    expect([free.mock.calls.length, dead.mock.calls.length]).toEqual([1, 1]);
    expect(t.journal.kinds(pid).filter((kind) => kind === "process.reaped")).toHaveLength(1);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("its steps come in their order", async () => {
    const t = testKernel();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys });
    const { proc, pid } = parent;
    const order: string[] = [];
    const note = (step: string) => () => void order.push(step);
    const { contexts, table } = t.kernel;
    const orphanChildren = table.orphanChildren.bind(table);
    vi.spyOn(table, "orphanChildren").mockImplementation((of) => {
      order.push("1 orphans");
      return orphanChildren(of);
    });
    vi.spyOn(proc.abort, "abort").mockImplementation(note("2 cancel"));
    if (proc.debug !== null)
      vi.spyOn(proc.debug, "close").mockImplementation(() => order.push(`4 debug ${proc.debug}`));
    vi.spyOn(proc, "resume").mockImplementation(note("7 signals"));
    vi.spyOn(contexts, "free").mockImplementation(note("10 context"));
    vi.spyOn(proc.life, "bury").mockImplementation(note("11 dead"));
    vi.spyOn(table, "remove").mockImplementation(note("12 table"));
    parent.end();
    await proc.done.promise;
    await settle();
    order.length = 0;
    Object.defineProperty(proc.life, "loop", {
      get: () => {
        order.push("3 loop");
        return Promise.resolve();
      },
    });
    await t.init.reap(pid);
    expect(order).toEqual([
      "1 orphans",
      "2 cancel",
      "3 loop",
      "4 debug null",
      "7 signals",
      "10 context",
      "11 dead",
      "12 table",
    ]);
    expect(child.proc.ppid).toBe(0);
  });

  test("many ended children are reaped in their order, a few in each round of the event loop", async () => {
    const agents = { children: 80, perMinute: 1_000 };
    const t = testKernel({ budget: () => ({ defaults: {}, windows: [], agents }) });
    const parent = await t.start();
    const children: Pid[] = [];
    for (let n = 0; n < 80; n++) children.push(await parent.sys.spawn("child", null));
    await Promise.all(children.map((pid) => t.proc(pid).done.promise));
    parent.end();
    await parent.proc.done.promise;
    const reaped = () => t.journal.kinds().filter((kind) => kind === "process.reaped").length;
    let isOver = false;
    const over = t.init.reap(parent.pid).then(() => {
      isOver = true;
    });
    const rounds: number[] = [];
    for (let before = 0; !isOver; before = reaped()) {
      await new Promise((resolve) => setImmediate(resolve));
      rounds.push(reaped() - before);
    }
    await over;
    // two portions at most lie between two looks, and then itself
    expect(Math.max(...rounds)).toBeLessThanOrEqual(33);
    await t.journal.sync();
    const order = t.journal.records.filter(({ kind }) => kind === "process.reaped").map(({ pid }) => pid);
    expect(order).toEqual([...children, parent.pid]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test.each(["orphans", "cancel", "channels", "signals", "contexts", "table"] as const)(
    "a fault at %s is logged and stops nothing",
    async (step) => {
      const t = testKernel();
      const { proc, pid, end } = await t.start();
      end();
      await proc.done.promise;
      const fails = (): never => {
        throw new Error("injected");
      };
      if (step === "orphans") vi.spyOn(t.kernel.table, "orphanChildren").mockImplementation(fails);
      if (step === "cancel") proc.abort.abort = fails;
      if (step === "channels" && proc.debug !== null) proc.debug.close = fails;
      if (step === "signals") proc.resume = fails;
      if (step === "contexts") vi.spyOn(t.kernel.contexts, "free").mockImplementation(fails);
      if (step === "table") vi.spyOn(t.kernel, "forget").mockImplementation(fails);
      await t.init.reap(pid);
      expect(t.logs).toEqual([`error: pid 1: reaping, ${step}: [INTERNAL] injected`]);
      expect(proc.state).toBe("dead");
      expect(t.kernel.table.size).toBe(0);
    },
  );

  test("devices that fail to let go of it are logged", async () => {
    const t = testKernel({ onReaped: () => Promise.reject(new Error("busy")) });
    const pid = await t.init.spawn("a", null);
    await t.init.wait(pid);
    expect(t.logs).toEqual(["error: pid 1: reaping, table: [INTERNAL] busy"]);
  });

  test("a loop that does not end is given up after 5 s, its files closed", async () => {
    const t = testKernel();
    const device = new ByteDevice();
    t.kernel.mount("/dev/bytes", device);
    const { pid, sys, proc } = await t.start({ stubborn: true });
    await sys.open("/dev/bytes/a", 0);
    await t.init.kill(pid, 2);
    await proc.done.promise;
    const reaped = t.init.wait(pid);
    await t.clock.advance(4_999);
    expect([proc.state, device.live]).toEqual(["zombie", 1]);
    await t.clock.advance(1);
    expect((await reaped).code).toBe(137);
    expect(t.logs).toContain("error: pid 1: process.loop_abandoned");
    expect(device.live).toBe(0);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("a file that does not close holds neither the others nor the reaping up", async () => {
    const t = testKernel();
    const device = new ByteDevice();
    t.kernel.mount("/dev/bytes", device);
    t.model.script.close = () => new Promise(() => {});
    const { pid, sys, proc } = await t.start({ stubborn: true });
    await sys.open("/dev/bytes/a", 0);
    await t.init.kill(pid, 2);
    await proc.done.promise;
    const reaped = t.init.wait(pid);
    await t.clock.advance(5_000);
    await reaped;
    expect([device.live, proc.fds.size, proc.state]).toEqual([0, 0, "dead"]);
  });

  test("an abandoned program that ends at last changes nothing", async () => {
    const t = testKernel();
    const { pid, proc, end } = await t.start({ stubborn: true });
    await t.init.kill(pid, 2);
    await proc.done.promise;
    const reaped = t.init.reap(pid);
    await t.clock.advance(5_000);
    await reaped;
    end();
    await settle();
    expect([proc.state, proc.exit?.code]).toEqual(["dead", 137]);
    expect(t.journal.kinds(pid).filter((kind) => kind === "process.exited")).toHaveLength(1);
  });

  test("reap() of one that runs is CONFLICT, of one that is gone NOT_FOUND", async () => {
    const t = testKernel();
    const { pid, end } = await t.start();
    await expect(t.init.reap(pid)).rejects.toMatchObject({ code: "CONFLICT" });
    end();
    await t.init.wait(pid);
    await expect(t.init.reap(pid)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("a wait given up while it reaps ends; the reaping goes on", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start({ stubborn: true });
    await t.init.kill(pid, 2);
    await proc.done.promise;
    const stop = new AbortController();
    const waited = expect(t.init.wait(pid, stop.signal)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    stop.abort();
    await waited;
    await t.clock.advance(5_000);
    expect(proc.state).toBe("dead");
  });

  test("an aborted wait leaves the process alone", async () => {
    const t = testKernel();
    const { pid, proc, end } = await t.start();
    const stop = new AbortController();
    const waited = expect(t.init.wait(pid, stop.signal)).rejects.toMatchObject({ code: "CANCELLED" });
    stop.abort();
    await waited;
    expect(proc.state).toBe("running");
    end();
    expect((await t.init.wait(pid)).code).toBe(0);
  });
});

describe("orphans", () => {
  test("a running child goes to pid 0 and runs on", async () => {
    const t = testKernel();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys });
    parent.end();
    await t.init.wait(parent.pid);
    expect(child.proc).toMatchObject({ ppid: 0, state: "running" });
    expect(t.kernel.table.childrenOf(PID_KERNEL)).toEqual([child.proc]);
    await child.sys.stat("/dev/llm/fake");
    child.end();
    expect((await t.init.wait(child.pid)).code).toBe(0);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("a zombie child waits for its parent, then is reaped", async () => {
    const t = testKernel();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys });
    child.end();
    await child.proc.done.promise;
    await t.clock.advance(120_000);
    expect(child.proc.state).toBe("zombie");
    parent.end();
    await t.init.wait(parent.pid);
    await settle();
    expect(child.proc.state).toBe("dead");
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("onParentExit terminate: TERM, then KILL after 5 s", async () => {
    const t = testKernel();
    const parent = await t.start();
    const opts = { by: parent.sys, onParentExit: "terminate" } as const;
    const [meek, deaf] = [await t.start(opts), await t.start({ ...opts, stubborn: true })];
    parent.end();
    await t.init.wait(parent.pid);
    expect((await meek.proc.done.promise).code).toBe(143);
    await t.clock.advance(4_999);
    expect(deaf.proc.state).toBe("running");
    await t.clock.advance(1);
    expect(deaf.proc.exit?.code).toBe(137);
  });

  test("onParentExit terminate: one that ends after its parent was reaped is shown no longer than one that ended before", async () => {
    const t = testKernel();
    const parent = await t.start();
    const opts = { by: parent.sys, onParentExit: "terminate" } as const;
    const deaf = await t.start({ ...opts, stubborn: true });
    const below = await t.start({ by: deaf.sys, onParentExit: "terminate", stubborn: true });
    parent.end();
    await t.init.wait(parent.pid);
    await t.clock.advance(20_000);
    await settle();
    expect([deaf, below].map(({ proc }) => proc.exit?.code)).toEqual([137, 137]);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("reapProcess() of the root's grandchildren keeps counts right", async () => {
    const t = testKernel();
    const a = await t.start();
    const b = await t.start({ by: a.sys });
    const c = await t.start({ by: b.sys });
    b.end();
    await a.sys.wait(b.pid);
    expect(c.proc.ppid).toBe(0);
    for (const each of [a, c]) each.end();
    await Promise.all([a.proc.done.promise, c.proc.done.promise]);
    await Promise.all([a, c].map(({ proc }) => reapProcess(t.kernel, proc)));
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});
