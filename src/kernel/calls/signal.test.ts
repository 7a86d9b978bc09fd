/** Who may say what about whose signals. What they then do is in process/signal/deliver.test.ts. */
import { describe, expect, test } from "vitest";
import { printed, SyscallError } from "../../abi/errors.ts";
import { asPid } from "../../abi/ids.ts";
import { EXIT, type Signal, type SignalAction } from "../../abi/process.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { guardedBench } from "../testing/guarded.ts";
import { type Started, testKernel } from "../testing/test-kernel.ts";

const CALLS = {
  Signal: (sys: Syscalls, pid: number, signal: number) => sys.signal(asPid(pid), signal as Signal),
  SigBlock: (sys: Syscalls, pid: number, signal: number) => sys.sigBlock(asPid(pid), signal as Signal),
  SigUnblock: (sys: Syscalls, pid: number, signal: number) => sys.sigUnblock(asPid(pid), signal as Signal),
} as const;
const MEMORY = { type: "stdio", command: "memory-server", args: [], env: {} } as const;
const NAMES = ["Signal", "SigBlock", "SigUnblock"] as const;

describe.each(NAMES)("%s", (name) => {
  const call = CALLS[name];

  test.each([0, 6, 1.5, -1, Number.NaN, "1"])("%s is no signal: INVALID", async (signal) => {
    const t = testKernel();
    const { pid } = await t.start();
    const error = await call(t.init, pid, signal as number).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SyscallError);
    expect(error).toMatchObject({ code: "INVALID", syscall: name, pid: 0 });
  });

  test("of an unknown pid, or of pid 0, is NOT_FOUND", async () => {
    const t = testKernel();
    for (const pid of [9, 0]) {
      const error = await call(t.init, pid, 1).catch((thrown: unknown) => thrown);
      expect(printed(error)).toBe(`[NOT_FOUND] PID 0 ${name}: process not found: ${pid}`);
    }
  });

  test("reaches the caller and its descendants; others it sees are PERMISSION, the rest NOT_FOUND", async () => {
    const t = testKernel();
    const parent = await t.start();
    const child = await t.start({ by: parent.sys });
    const grandchild = await t.start({ by: child.sys });
    const [mate, stranger] = [await t.start(), await t.start()];
    for (const { pid } of [parent, mate]) await t.init.joinGroup(pid, "team");
    const code = (by: Started, of: Started) =>
      call(by.sys, of.pid, 5).then(
        () => "ok",
        (error: SyscallError) => error.code,
      );
    expect(await code(parent, parent)).toBe("ok");
    expect(await code(parent, grandchild)).toBe("ok");
    expect(await code(child, parent)).toBe("PERMISSION");
    expect(await code(parent, mate)).toBe("PERMISSION");
    expect(await code(parent, stranger)).toBe("NOT_FOUND");
    expect(await code(child, mate)).toBe("NOT_FOUND");
  });
});

describe("KILL", () => {
  test("can be neither blocked nor handled: INVALID, and it acts as ever", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    const words = "SIGKILL can be neither blocked nor handled";
    for (const call of [
      () => sys.sigBlock(pid, 2),
      () => sys.sigUnblock(pid, 2),
      () => sys.sigHandle(2, "ignore"),
    ])
      await expect(call()).rejects.toMatchObject({ code: "INVALID", message: words });
    expect(await t.init.signal(pid, 2)).toBe("default");
    expect((await t.init.wait(pid)).code).toBe(137);
  });
});

describe("SigHandle", () => {
  test("takes a function, default or ignore", async () => {
    const t = testKernel();
    const { sys, proc } = await t.start();
    for (const action of ["stop", null, undefined, 1])
      await expect(sys.sigHandle(1, action as unknown as SignalAction)).rejects.toMatchObject({
        code: "INVALID",
      });
    await sys.sigHandle(1, "default");
    expect(proc.signals).toBeNull();
    await sys.sigHandle(1, "ignore");
    await sys.sigHandle(3, () => {});
    await sys.sigHandle(1, "default");
    expect(proc.signals?.view().handled).toEqual([3]);
  });

  test("is for the caller: pid 0 takes no signals", async () => {
    const t = testKernel();
    await expect(t.init.sigHandle(1, "ignore")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(t.kernel.root.signals).toBeNull();
  });
});

describe("a program under /bin", () => {
  test("may not change how its process takes signals: that would outlast its call", async () => {
    const bench = await guardedBench();
    const codes: unknown[] = [];
    bench.acts(async (sys) => {
      for (const call of [
        sys.sigBlock(bench.pid, 1),
        sys.sigUnblock(bench.pid, 1),
        sys.sigHandle(1, "ignore"),
      ])
        codes.push(await call.catch((error: SyscallError) => error.code));
    });
    await bench.call();
    expect(codes).toEqual(["PERMISSION", "PERMISSION", "PERMISSION"]);
    expect(bench.proc.signals).toBeNull();
  });

  test("that declared it may for a time, for its own process alone, and by no function", async () => {
    const bench = await guardedBench();
    bench.tool.script.effects = [{ kind: "state", path: "/proc/self/signals" }];
    const child = await bench.t.start({ by: bench.sys });
    const codes: unknown[] = [];
    bench.acts(async (sys) => {
      for (const call of [
        sys.sigBlock(bench.pid, 1),
        sys.sigBlock(bench.pid, 1, 120_001),
        sys.sigBlock(bench.pid, 2, 1_000),
        sys.sigBlock(child.pid, 1, 1_000),
        sys.sigHandle(1, () => {}, 1_000),
        sys.sigHandle(1, "ignore"),
        sys.sigBlock(bench.pid, 4, 1_000),
        sys.sigHandle(3, "ignore", 1_000),
        sys.sigBlock(bench.pid, 1, 1_000),
      ])
        codes.push(await call.then(() => "done").catch((error: SyscallError) => error.code));
    });
    await bench.call();
    const refused = ["INVALID", "INVALID", "INVALID", "PERMISSION", "INVALID", "INVALID", "PERMISSION"];
    expect(codes).toEqual([...refused, "done", "done"]);
    expect(bench.proc.signals?.view()).toEqual({ blocked: [1], pending: [], handled: [3] });
    // what waited acts when the time is over, whatever the program does
    expect(await bench.t.init.signal(bench.pid, 1)).toBe("pending");
    await bench.t.clock.advance(1_000);
    expect(await bench.t.init.wait(bench.pid)).toEqual(EXIT.sigterm);
  });
});

describe("/proc", () => {
  test("shows what is blocked, pending and handled", async () => {
    const t = testKernel();
    const { sys, pid } = await t.start();
    const view = t.kernel.view();
    expect(view.signals(pid)).toEqual({ blocked: [], pending: [], handled: [] });
    for (const signal of [4, 1] as const) await sys.sigBlock(pid, signal);
    await sys.sigHandle(3, "ignore");
    await t.init.kill(pid, 4);
    expect(view.signals(pid)).toEqual({ blocked: [1, 4], pending: [4], handled: [3] });
    expect(view.signals(asPid(9))).toEqual({ blocked: [], pending: [], handled: [] });
  });

  test("shows the mounts of each process as its own", async () => {
    const t = testKernel();
    const [one, other] = [await t.start(), await t.start()];
    await t.init.mount("/mnt/mcp/all", MEMORY);
    await one.sys.mount("/mnt/mcp/mine", MEMORY);
    const view = t.kernel.view();
    expect(view.mounts(one.pid)).toEqual([
      { path: "/mnt/mcp/mine", device: expect.stringContaining("memory") },
    ]);
    expect(view.mounts(other.pid)).toEqual([]);
  });

  test("shows a supervisor that runs", async () => {
    const t = testKernel();
    const pid = await t.init.spawnSupervisor({ name: "notes", children: [] });
    const { pid: agent } = await t.start();
    const view = t.kernel.view();
    expect(view.supervisor(pid)).toMatchObject({ name: "notes", strategy: "one_for_one", children: [] });
    expect(view.supervisor(agent)).toBeUndefined();
    await t.init.kill(pid, 2);
    await t.init.wait(pid);
    expect(view.supervisor(pid)).toBeUndefined();
  });
});

describe("the trace", () => {
  test("tells each call with its arguments", async () => {
    const t = testKernel();
    const { sys, pid, end } = await t.start();
    const reader = t.kernel.attachDebug(pid, { all: true });
    await sys.sigHandle(1, "ignore");
    await sys.sigBlock(pid, 1);
    await sys.signal(pid, 1);
    await sys.sigUnblock(pid, 1);
    end();
    await t.init.wait(pid);
    const events = (await Array.fromAsync(reader)).slice(1);
    expect(events.map(({ syscall, args, result }) => [syscall, args, result])).toEqual([
      ["SigHandle", { signal: 1 }, undefined],
      ["SigBlock", { pid, signal: 1 }, undefined],
      ["Signal", { pid, signal: 1 }, "pending"],
      ["SigUnblock", { pid, signal: 1 }, undefined],
    ]);
  });
});
