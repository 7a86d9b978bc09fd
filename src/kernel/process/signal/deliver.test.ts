import { describe, expect, test } from "vitest";
import { Fault, printed } from "../../../abi/errors.ts";
import { asFd, asPid } from "../../../abi/ids.ts";
import { EXIT, type ExitStatus, type Signal, signalName } from "../../../abi/process.ts";
import { LIMITS } from "../../limits.ts";
import { hangingDevice } from "../../testing/fake-devices.ts";
import { bytes, NOTHING_LEFT, type Started, type TestKernel, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";
import type { Body } from "../body.ts";
import { spawnBody } from "../spawn/spawn.ts";

describe("kill()", () => {
  test.each([0, 6, 1.5, -1, Number.NaN])("%d is INVALID", async (signal) => {
    const t = testKernel();
    const { pid } = await t.start();
    await expect(t.init.kill(pid, signal as Signal)).rejects.toMatchObject({ code: "INVALID" });
  });

  test("an unknown pid is NOT_FOUND in these words", async () => {
    const t = testKernel();
    const error = await t.init.kill(asPid(9), 1).catch((e: unknown) => e);
    expect(printed(error)).toBe("[NOT_FOUND] PID 0 Kill: process not found: 9");
  });

  test("what the caller does not see is NOT_FOUND, what it does not control PERMISSION", async () => {
    const t = testKernel();
    const [parent, stranger] = [await t.start(), await t.start()];
    const child = await t.start({ by: parent.sys });
    await expect(stranger.sys.kill(child.pid, 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(child.sys.kill(parent.pid, 1)).rejects.toMatchObject({ code: "PERMISSION" });
    await parent.sys.kill(child.pid, 1);
    expect((await parent.sys.wait(child.pid)).code).toBe(143);
  });

  test.each([1, 2, 3, 4, 5] as const)("%i of a zombie is nothing", async (signal) => {
    const t = testKernel();
    const { pid, proc, end } = await t.start();
    end();
    await proc.done.promise;
    await t.init.kill(pid, signal);
    expect(t.kernel.info(proc)).toMatchObject({ state: "zombie", exit: { code: 0 }, activity: null });
    expect(t.journal.kinds()).not.toContain("signal");
  });

  test.each([
    [1, { code: 143, reason: "killed: SIGTERM", kind: "killed" }],
    [2, { code: 137, reason: "killed: SIGKILL", kind: "killed" }],
    [3, { code: 130, reason: "killed: SIGINT", kind: "killed" }],
  ] as const)("%i ends with its status", async (signal, exit) => {
    const t = testKernel();
    const { pid } = await t.start();
    await t.init.kill(pid, signal);
    expect(await t.init.wait(pid)).toEqual(exit);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("TERM ends a hanging model call, at no time of the clock", async () => {
    const t = testKernel({ models: { resolve: async () => ({ device: "/dev/hang", model: "" }) } });
    const device = hangingDevice();
    t.kernel.mount("/dev/hang", device);
    const { pid, sys } = await t.start();
    const call = expect(sys.write(asFd(3), bytes("{}"))).rejects.toMatchObject({ code: "CANCELLED" });
    await t.init.kill(pid, 1);
    await call;
    expect((await t.init.wait(pid)).code).toBe(143);
    expect([t.clock.mono(), device.live]).toEqual([0, 0]);
  });

  test("TERM not heeded becomes KILL after 10 s, however often it is sent", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start({ stubborn: true });
    await t.init.kill(pid, 1);
    await t.clock.advance(1_000);
    await t.init.kill(pid, 1);
    await t.init.kill(pid, 1);
    expect(t.clock.pending).toBe(1);
    await t.clock.advance(8_999);
    expect(proc.state).toBe("running");
    await t.clock.advance(1);
    expect(proc.exit).toMatchObject({ code: 137, reason: "killed: SIGKILL" });
  });

  test("KILL outranks TERM; TERM does not outrank INT", async () => {
    const t = testKernel();
    const a = await t.start({ stubborn: true });
    await t.init.kill(a.pid, 1);
    await t.init.kill(a.pid, 2);
    expect((await a.proc.done.promise).code).toBe(137);
    const b = await t.start();
    await t.init.kill(b.pid, 3);
    await t.init.kill(b.pid, 1);
    expect((await b.proc.done.promise).code).toBe(130);
  });

  test("KILL revokes the handle before it returns", async () => {
    const t = testKernel();
    const { pid, sys } = await t.start({ stubborn: true });
    await t.init.kill(pid, 2);
    await expect(sys.listProcs()).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("during the finish changes nothing", async () => {
    const t = testKernel();
    const { pid, proc, end } = await t.start();
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    end();
    await t.clock.advance(0);
    expect(proc.life.now.is).toBe("finishing");
    await t.init.kill(pid, 1);
    await t.init.kill(pid, 2);
    await expect(t.init.reap(pid)).rejects.toMatchObject({ code: "CONFLICT" });
    gate.resolve();
    expect((await t.init.wait(pid)).code).toBe(0);
    expect(t.clock.pending).toBe(0);
  });
});

describe("pause", () => {
  test("holds at the next step until resume; twice is once", async () => {
    const t = testKernel();
    const { pid, sys } = await t.start();
    await t.init.kill(pid, 4);
    await t.init.kill(pid, 4);
    let passed = false;
    const held = sys.waitIfPaused().then(() => {
      passed = true;
    });
    await t.clock.advance(1_000);
    expect(passed).toBe(false);
    await t.init.kill(pid, 5);
    await held;
    await t.init.kill(pid, 5);
    await sys.waitIfPaused();
  });

  test.each([
    [1, 143],
    [2, 137],
    [3, 130],
  ] as const)("ends with %i: exit %i, and no step is taken", async (signal, code) => {
    const t = testKernel();
    let steps = 0;
    t.programs.set("a", async (sys) => {
      await new Promise((resolve) => setImmediate(resolve));
      await sys.waitIfPaused();
      if (!sys.ending.aborted) steps++;
      return { code: 0, reason: "completed", kind: "done" };
    });
    const pid = await t.init.spawn("a", null);
    await t.init.kill(pid, 4);
    await t.clock.advance(0);
    await t.init.kill(pid, signal);
    expect((await t.init.wait(pid)).code).toBe(code);
    expect(steps).toBe(0);
  });
});

const ALL: readonly Signal[] = [1, 2, 3, 4, 5];
const EXIT_OF: Readonly<Partial<Record<Signal, ExitStatus>>> = {
  1: EXIT.sigterm,
  2: EXIT.sigkill,
  3: EXIT.sigint,
};

/** What the default action of a signal does to a process that runs, or to one that was paused for RESUME. */
function hasActed({ proc }: Started, signal: Signal): boolean {
  if (signal === 4) return proc.isPaused;
  if (signal === 5) return !proc.isPaused;
  return proc.ending.verdict === EXIT_OF[signal] && proc.abort.signal.aborted;
}

async function startedFor(t: TestKernel, signal: Signal): Promise<Started> {
  const started = await t.start();
  if (signal === 5) await t.init.kill(started.pid, 4);
  return started;
}

describe("signal()", () => {
  test.each(ALL)("%i by default: it acts before the call returns", async (signal) => {
    const t = testKernel();
    const started = await startedFor(t, signal);
    const told = t.init.signal(started.pid, signal);
    expect(hasActed(started, signal)).toBe(true);
    expect(await told).toBe("default");
    const { exit } = EXIT_OF[signal] === undefined ? started.proc : { exit: await t.init.wait(started.pid) };
    expect(exit).toEqual(EXIT_OF[signal] ?? null);
  });

  test.each([1, 3, 4, 5] as const)("%i with a handler: that runs instead", async (signal) => {
    const t = testKernel();
    const started = await startedFor(t, signal);
    const heard: Signal[] = [];
    await started.sys.sigHandle(signal, (each) => void heard.push(each));
    expect(await t.init.signal(started.pid, signal)).toBe("handler");
    expect(heard).toEqual([signal]);
    expect(started.proc.ending.verdict).toBeNull();
    expect(started.proc.isPaused).toBe(false);
  });

  test.each([1, 3, 4, 5] as const)("%i blocked: pending, and nothing happens", async (signal) => {
    const t = testKernel();
    const started = await startedFor(t, signal);
    await started.sys.sigBlock(started.pid, signal);
    expect(await t.init.signal(started.pid, signal)).toBe("pending");
    expect(hasActed(started, signal)).toBe(false);
  });

  test.each([1, 3, 4, 5] as const)("%i ignored by the process: nothing happens", async (signal) => {
    const t = testKernel();
    const started = await startedFor(t, signal);
    await started.sys.sigHandle(signal, "ignore");
    expect(await t.init.signal(started.pid, signal)).toBe("ignored");
    expect(hasActed(started, signal)).toBe(false);
    await started.sys.sigHandle(signal, "default");
    expect(await t.init.signal(started.pid, signal)).toBe("default");
  });

  test.each(ALL)("%i of a zombie is ignored, whatever it had said", async (signal) => {
    const t = testKernel();
    const { sys, pid, proc, end } = await t.start();
    if (signal !== 2) {
      await sys.sigHandle(signal, () => expect.unreachable());
      await sys.sigBlock(pid, signal);
    }
    end();
    await proc.done.promise;
    expect(await t.init.signal(pid, signal)).toBe("ignored");
    await t.init.sigBlock(pid, 1);
    if (signal !== 2) await t.init.sigUnblock(pid, signal);
    expect(await t.init.wait(pid)).toEqual(EXIT.completed);
  });

  test("during the finish is ignored: the exit is decided", async () => {
    const t = testKernel();
    const { pid, sys, proc, end } = await t.start();
    await sys.sigHandle(1, () => expect.unreachable());
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    end();
    await settle();
    expect([proc.state, await t.init.signal(pid, 1)]).toEqual(["running", "ignored"]);
    gate.resolve();
    expect(await t.init.wait(pid)).toEqual(EXIT.completed);
  });
});

describe("a signal that is taken as a message", () => {
  test.each([1, 3, 4] as const)("%i comes as one, and nothing else happens", async (signal) => {
    const t = testKernel();
    const started = await startedFor(t, signal);
    await started.sys.sigHandle(signal, "message");
    expect(await t.init.signal(started.pid, signal)).toBe("handler");
    const { from, data } = await started.sys.recv();
    expect([from, new TextDecoder().decode(data)]).toEqual([
      started.pid,
      expect.stringContaining(`${signalName(signal)} was sent to you`),
    ]);
    expect(hasActed(started, signal)).toBe(false);
  });

  test("wakes a sleeper only when the message is there", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    await sys.sigHandle(1, "message");
    const disk = Promise.withResolvers<void>();
    t.journal.gate = disk.promise;
    const slept = sys.sleep(60_000);
    void t.init.signal(pid, 1);
    await settle();
    disk.resolve();
    expect(await slept).toBe("message");
    expect((await sys.recv()).from).toBe(pid);
  });

  test("acts by default where the message cannot be delivered", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    await sys.sigHandle(1, "message");
    for (let n = 0; n < LIMITS.mailboxMessages; n++) await t.init.send(pid, bytes("x"));
    await t.init.signal(pid, 1);
    expect(await t.init.wait(pid)).toEqual(EXIT.sigterm);
  });
});

describe("a setting for a time", () => {
  test("ends: what waited acts by default, and the next time replaces it", async () => {
    const t = testKernel();
    const { sys, pid, proc } = await t.start();
    await sys.sigHandle(4, "ignore", 1_000);
    await t.clock.advance(999);
    await sys.sigBlock(pid, 4, 1_000);
    await t.init.kill(pid, 4);
    await t.clock.advance(999);
    expect(proc.isPaused).toBe(false);
    await t.clock.advance(1);
    expect([proc.isPaused, proc.signals?.handlers.size]).toEqual([true, 0]);
  });

  test("ends with its process: no timer is left", async () => {
    const t = testKernel();
    const { sys, pid, end } = await t.start();
    const before = t.clock.pending;
    await sys.sigBlock(pid, 1, 60_000);
    expect(t.clock.pending).toBe(before + 1);
    end();
    await t.init.wait(pid);
    expect(t.clock.pending).toBe(before);
  });
});

describe("a blocked signal", () => {
  test("sent three times arrives once", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    let runs = 0;
    await sys.sigHandle(1, () => void runs++);
    await sys.sigBlock(pid, 1);
    for (let n = 0; n < 3; n++) expect(await t.init.signal(pid, 1)).toBe("pending");
    expect(runs).toBe(0);
    await sys.sigUnblock(pid, 1);
    expect(runs).toBe(1);
    await sys.sigUnblock(pid, 1);
    expect(runs).toBe(1);
  });

  test("is delivered before the unblocking returns, its handler run to the end", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    const done: string[] = [];
    await sys.sigHandle(3, async () => {
      await settle();
      done.push("handler");
    });
    await sys.sigBlock(pid, 3);
    await t.init.kill(pid, 3);
    await sys.sigUnblock(pid, 3);
    done.push("unblocked");
    expect(done).toEqual(["handler", "unblocked"]);
  });

  test("acts by default when it is unblocked: the caller of its own end is told nothing is wrong", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    await sys.sigBlock(pid, 1);
    await t.init.kill(pid, 1);
    await sys.sigUnblock(pid, 1);
    expect(await t.init.wait(pid)).toEqual(EXIT.sigterm);
  });

  test("waits for its own unblocking; KILL waits for none", async () => {
    const t = testKernel();
    const { sys, pid, proc } = await t.start();
    for (const signal of [1, 3, 4, 5] as const) await sys.sigBlock(pid, signal);
    for (const signal of [5, 4, 3, 1] as const) await t.init.kill(pid, signal);
    await sys.sigUnblock(pid, 4);
    expect([proc.isPaused, [...(proc.signals?.pending ?? [])].sort()]).toEqual([true, [1, 3, 5]]);
    await t.init.kill(pid, 2);
    expect(await t.init.wait(pid)).toEqual(EXIT.sigkill);
  });
});

describe("the record of a signal", () => {
  test("says what it met and how it left the process", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    await sys.sigHandle(3, "ignore");
    await sys.sigBlock(pid, 1);
    for (const signal of [4, 1, 1, 3, 5, 2] as const) await t.init.kill(pid, signal);
    expect(t.journal.bodies("signal")).toEqual([
      { signal: 4, disposition: "default", paused: true, ranMs: 0 },
      { signal: 1, disposition: "pending", paused: true, ranMs: 0 },
      { signal: 3, disposition: "ignored", paused: true, ranMs: 0 },
      { signal: 5, disposition: "default", paused: false, ranMs: 0 },
      { signal: 2, disposition: "default", paused: false, ranMs: 0 },
    ]);
  });

  test("is durable before the sender hears of it, and delays nothing", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start();
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    let heard = false;
    const told = t.init.kill(pid, 4).then(() => {
      heard = true;
    });
    expect(proc.isPaused).toBe(true);
    await settle();
    expect(heard).toBe(false);
    gate.resolve();
    await told;
    expect(t.journal.records.at(-1)).toMatchObject({ kind: "signal", pid });
  });

  test("that the journal refuses: the signal acts, and its sender hears that it may be forgotten", async () => {
    const t = testKernel();
    const { pid, proc } = await t.start();
    const full = new Fault({ code: "UNAVAILABLE", message: "the disk is full" });
    t.journal.sync = () => Promise.reject(full);
    const error = await t.init.kill(pid, 4).catch((thrown: unknown) => thrown);
    expect(printed(error)).toBe(
      "[UNAVAILABLE] PID 0 Kill: the signal was delivered, but it could not be recorded: the disk is full",
    );
    expect(proc.isPaused).toBe(true);
    await expect(t.init.signal(pid, 1)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await t.init.wait(pid)).toEqual(EXIT.sigterm);
    expect(t.journal.bodies("signal")).toMatchObject([{ signal: 4 }, { signal: 1 }]);
  });
});

describe("a body with defaults of its own", () => {
  /** Passes on what it is asked for; the program ends with its signal. */
  function body(passed: Signal[], handles: readonly Signal[]): Body {
    return {
      kind: "native",
      name: "sleep",
      agent: null,
      isActive: true,
      prepare: async () => {},
      run: ({ abort }) =>
        new Promise((resolve) => abort.signal.addEventListener("abort", () => resolve(EXIT.unexpected))),
      onSignal: (_proc, signal) => {
        passed.push(signal);
        return handles.includes(signal);
      },
    };
  }

  async function native(t: TestKernel, handles: readonly Signal[]) {
    const passed: Signal[] = [];
    const { root } = t.kernel;
    const proc = await spawnBody(
      t.kernel,
      { caller: root, intent: "sleep", body: body(passed, handles), opts: {} },
      root.abort.signal,
    );
    return { proc, pid: proc.pid, passed };
  }

  test("is asked first; what it does not take acts as always", async () => {
    const t = testKernel();
    const { proc, pid, passed } = await native(t, [3, 4, 5]);
    expect(await t.init.signal(pid, 3)).toBe("default");
    expect(proc.ending.verdict).toBeNull();
    expect(await t.init.signal(pid, 1)).toBe("default");
    expect(passed).toEqual([3, 1]);
    expect(await t.init.wait(pid)).toEqual(EXIT.sigterm);
  });

  test("is paused as any process is, and goes on before it hears of its end", async () => {
    const t = testKernel();
    const { proc, pid, passed } = await native(t, [3, 4, 5]);
    await t.init.kill(pid, 4);
    expect(t.kernel.info(proc).activity).toBe("paused");
    await t.init.kill(pid, 5);
    expect(t.kernel.info(proc).activity).toBeNull();
    await t.init.kill(pid, 4);
    await t.init.kill(pid, 1);
    expect(passed).toEqual([4, 5, 4, 1, 5]);
    expect(await t.init.wait(pid)).toEqual(EXIT.sigterm);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("that takes TERM for itself is ended by force when the sender insists", async () => {
    const t = testKernel();
    const { proc, pid } = await native(t, [1]);
    await t.init.kill(pid, 1);
    await t.clock.advance(60_000);
    expect(proc.state).toBe("running");
    await t.kernel.deliver(proc, 1, 500);
    await t.clock.advance(500);
    expect(await t.init.wait(pid)).toEqual(EXIT.sigkill);
  });

  test("whose blocked signal is not passed on", async () => {
    const t = testKernel();
    const { pid, passed } = await native(t, [4, 5]);
    await t.init.sigBlock(pid, 4);
    expect(await t.init.signal(pid, 4)).toBe("pending");
    expect(passed).toEqual([]);
    await t.init.sigUnblock(pid, 4);
    expect(passed).toEqual([4]);
  });
});
