/** A fault at each step of spawn() leaves nothing behind but a spent pid. */
import { describe, expect, test } from "vitest";
import { DriverError, Fault } from "../../../abi/errors.ts";
import { asPid, PID_KERNEL } from "../../../abi/ids.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { brokenDevice } from "../../testing/fake-devices.ts";
import { NOTHING_LEFT, type TestKernel, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

const fails = (): never => {
  throw new Error("injected");
};

function breaks<T extends object>(part: T, method: keyof T): void {
  Object.assign(part, { [method]: fails });
}

interface Case {
  readonly step: string;
  readonly code: string;
  readonly ports?: Partial<KernelPorts>;
  readonly prepare?: (t: TestKernel) => void;
}

const CASES: readonly Case[] = [
  { step: "scratch folder", code: "INTERNAL", ports: { scratchDir: fails } },
  { step: "real path", code: "INTERNAL", ports: { realPath: fails } },
  { step: "policy", code: "INTERNAL", ports: { permitFor: fails } },
  { step: "record", code: "INTERNAL", prepare: (t) => breaks(t.kernel.table, "add") },
  { step: "context", code: "INTERNAL", prepare: (t) => breaks(t.kernel.contexts, "alloc") },
  {
    step: "system prompt",
    code: "INTERNAL",
    prepare: (t) => breaks(t.kernel.contexts, "setSystemPrompt"),
  },
  { step: "intent", code: "INTERNAL", prepare: (t) => breaks(t.kernel.contexts, "append") },
  {
    step: "no model",
    code: "UNAVAILABLE",
    ports: { models: { resolve: () => Promise.reject(new Fault({ code: "UNAVAILABLE", message: "none" })) } },
  },
  {
    step: "model device unknown",
    code: "NOT_FOUND",
    ports: { models: { resolve: async () => ({ device: "/dev/llm/none", model: "" }) } },
  },
  {
    step: "model device",
    code: "DRIVER",
    ports: { models: { resolve: async () => ({ device: "/dev/broken", model: "" }) } },
    prepare: (t) => t.kernel.mount("/dev/broken", brokenDevice()),
  },
  {
    step: "table of files",
    code: "TIMEOUT",
    prepare: (t) => {
      t.model.script.open = () =>
        Promise.reject(new DriverError({ op: "Open", code: "TIMEOUT", message: "slow" }));
    },
  },
  { step: "journal", code: "UNAVAILABLE", prepare: (t) => void t.journal.refused.add("process.spawned") },
];

describe("spawn() that fails", () => {
  test.each(CASES)("at $step is $code and leaves nothing", async ({ code, ports = {}, prepare }) => {
    const t = testKernel(ports);
    prepare?.(t);
    await expect(t.init.spawn("a", null)).rejects.toMatchObject({ code, syscall: "Spawn", pid: 1 });
    await settle();
    expect(t.census()).toEqual(NOTHING_LEFT);
    expect(t.journal.kinds()).toEqual(["process.failed"]);
    expect(t.journal.highestPid()).toBe(1);
  });

  test("below a parent leaves no entry and no share of its account", async () => {
    const t = testKernel();
    const parent = await t.start({ contextBudget: 1_000 });
    t.journal.refused.add("process.spawned");
    await expect(parent.sys.spawn("a", null)).rejects.toMatchObject({ code: "UNAVAILABLE", pid: 2 });
    expect(t.kernel.table.childrenOf(parent.pid)).toEqual([]);
    expect(parent.sys.account()).toEqual({ limit: 1_000, used: 0, reserved: 0 });
  });

  test("goes on taking back when one step of that fails, and keeps its error", async () => {
    const t = testKernel();
    t.journal.refused.add("process.spawned");
    t.model.script.close = fails;
    t.kernel.contexts.free = fails;
    await expect(t.init.spawn("a", null)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(t.kernel.table.size).toBe(0);
    expect(t.scratch.size).toBe(0);
    expect(t.logs).toHaveLength(2);
  });

  test("ends who waits for it and who traces it", async () => {
    const t = testKernel();
    const opened = Promise.withResolvers<void>();
    t.model.script.open = () => opened.promise;
    const spawned = t.init.spawn("a", null);
    const waited = t.init.wait(asPid(1));
    waited.catch(() => {});
    const trace = t.kernel.attachDebug(asPid(1), { all: true });
    opened.reject(new Error("no"));
    await expect(spawned).rejects.toMatchObject({ code: "INTERNAL" });
    await expect(waited).rejects.toMatchObject({ code: "INTERNAL", syscall: "Spawn" });
    await Array.fromAsync(trace);
  });

  test("below a parent that is reaped meanwhile leaves no child of pid 0", async () => {
    const t = testKernel();
    const parent = await t.start();
    const opened = Promise.withResolvers<void>();
    t.model.script.open = () => opened.promise;
    const spawned = t.init.spawn("a", null, { parentPid: parent.pid });
    await settle();
    parent.end();
    await t.init.wait(parent.pid);
    expect(t.kernel.table.childrenOf(PID_KERNEL).map(({ pid }) => pid)).toEqual([2]);
    opened.reject(new Error("no"));
    await expect(spawned).rejects.toMatchObject({ pid: 2 });
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});

describe("kill() of a process that is being made", () => {
  test.each([1, 2, 3] as const)("%i while its model opens: the spawn is CANCELLED", async (signal) => {
    const t = testKernel();
    const opened = Promise.withResolvers<void>();
    t.model.script.open = () => opened.promise;
    const spawned = t.init.spawn("a", null);
    await settle();
    await t.init.kill(asPid(1), signal);
    await expect(spawned).rejects.toMatchObject({ code: "CANCELLED" });
    // The device comes back late: its file is closed at once.
    opened.resolve();
    await settle();
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test.each([
    [1, 143],
    [2, 137],
    [3, 130],
  ] as const)("%i while it is journalled: it ends with %i without a step", async (signal, code) => {
    const t = testKernel();
    let steps = 0;
    t.programs.set("a", async () => {
      steps++;
      return { code: 0, reason: "", kind: "done" };
    });
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    const spawned = t.init.spawn("a", null);
    await settle();
    const told = t.init.kill(asPid(1), signal);
    gate.resolve();
    await told;
    const pid = await spawned;
    expect((await t.init.wait(pid)).code).toBe(code);
    expect(steps).toBe(0);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("pause there: it starts paused", async () => {
    const t = testKernel();
    const gate = Promise.withResolvers<void>();
    let passed = false;
    t.programs.set("a", async (sys) => {
      await sys.waitIfPaused();
      passed = true;
      return { code: 0, reason: "completed", kind: "done" };
    });
    t.journal.gate = gate.promise;
    const spawned = t.init.spawn("a", null);
    await settle();
    const told = t.init.kill(asPid(1), 4);
    gate.resolve();
    await told;
    const pid = await spawned;
    await settle();
    expect(passed).toBe(false);
    await t.init.kill(pid, 5);
    expect((await t.init.wait(pid)).code).toBe(0);
  });
});

test("spawn() whose sync failed says that it may be recorded all the same, and how to see it", async () => {
  const t = testKernel();
  const append = t.journal.append.bind(t.journal);
  t.journal.append = async (drafts, options) => {
    if (!drafts.some(({ kind }) => kind === "process.spawned")) return append(drafts, options);
    t.journal.state = { state: "lost", reason: "journal_sync_failed", message: "journal_sync_failed: EIO" };
    throw new Fault({ code: "UNAVAILABLE", message: "journal_sync_failed: EIO" });
  };
  await expect(t.init.spawn("a", null)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("EIO; whether process 1 was recorded is not known"),
    cause: expect.objectContaining({ fact: { kind: "unsure", pid: expect.any(Number) } }),
  });
});
