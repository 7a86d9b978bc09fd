import { describe, expect, test } from "vitest";
import { SyscallError } from "../../abi/errors.ts";
import type { SyscallEvent } from "../../abi/events.ts";
import { hangingDevice, MessageDevice } from "../testing/fake-devices.ts";
import { bytes, type Started, type TestKernel, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

async function traceOf(t: TestKernel, { pid, proc }: Started): Promise<SyscallEvent[]> {
  const reader = t.kernel.attachDebug(pid, { all: true });
  proc.debug?.close();
  return (await Array.fromAsync(reader)).slice(1);
}

describe("the gate", () => {
  test("traces each call when it ends: data by its size, long strings cut, keys in order", async () => {
    const t = testKernel();
    const device = new MessageDevice();
    t.kernel.mount("/dev/m", device);
    const started = await t.start();
    const { sys } = started;
    await t.clock.advance(2);
    const path = `/dev/m/${"x".repeat(300)}`;
    const fd = await sys.open(path, 2);
    device.script.act = async () => t.clock.advance(1.23456);
    await sys.write(fd, bytes("hello"));
    await sys.read(fd, 64);
    await sys.close(fd);
    await sys.setSystemPrompt(started.start.ctxId, "é");
    expect(await traceOf(t, started)).toEqual([
      {
        timestampMs: 2,
        pid: 1,
        syscall: "Open",
        args: { flags: 2, path: path.slice(0, 256) },
        result: 4,
        durationMs: 0,
        device: path,
      },
      {
        timestampMs: 2,
        pid: 1,
        syscall: "Write",
        args: { fd: 4, size: 5 },
        durationMs: 1.235,
        device: path,
        traffic: "message",
      },
      {
        timestampMs: 3.23456,
        pid: 1,
        syscall: "Read",
        args: { fd: 4, length: 64 },
        result: 5,
        durationMs: 0,
        device: path,
        traffic: "message",
      },
      { timestampMs: 3.23456, pid: 1, syscall: "Close", args: { fd: 4 }, durationMs: 0, device: path },
      {
        timestampMs: 3.23456,
        pid: 1,
        syscall: "SetSystemPrompt",
        args: { cid: 1, size: 2 },
        durationMs: 0,
        quiet: true,
      },
    ]);
  });

  test("traces an error as it is printed", async () => {
    const t = testKernel();
    const started = await t.start();
    await started.sys.open("/dev/unknown", 0).catch(() => {});
    expect((await traceOf(t, started))[0]).toMatchObject({
      syscall: "Open",
      error: "[NOT_FOUND] PID 1 Open: /dev/unknown (device not found: /dev/unknown)",
    });
  });

  test("a signal that has fired already is CANCELLED before anything happens", async () => {
    const t = testKernel();
    const { sys, proc } = await t.start();
    const fired = AbortSignal.abort();
    t.model.script.open = () => expect.unreachable();
    await expect(sys.open("/dev/llm/fake", 2, fired)).rejects.toMatchObject({ code: "CANCELLED" });
    expect([proc.fds.size, t.logs]).toEqual([1, []]);
  });

  test("whatever the reason of an abort is, the caller gets CANCELLED", async () => {
    const t = testKernel();
    t.kernel.mount("/dev/hang", hangingDevice());
    const { sys } = await t.start();
    const fd = await sys.open("/dev/hang", 2);
    for (const reason of [undefined, "tired", new Error("tired")]) {
      for (const call of [sys.read.bind(sys, fd, 1), sys.write.bind(sys, fd, bytes("x"))]) {
        const stop = new AbortController();
        const ended = expect(call(stop.signal)).rejects.toMatchObject({
          code: "CANCELLED",
          device: "/dev/hang",
        });
        await settle();
        stop.abort(reason);
        await ended;
      }
    }
  });

  test("leaves no listener on the process's signal, however many calls there were", async () => {
    const t = testKernel();
    const { sys, proc } = await t.start();
    let listeners = 0;
    const { signal } = proc.abort;
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
      const fd = await sys.open("/dev/llm/fake", 2);
      await sys.write(fd, bytes("x"));
      await sys.read(fd, 1);
      await sys.close(fd);
      await sys.stat("/dev/none").catch(() => {});
    }
    expect(listeners).toBe(0);
  });

  test("a bug inside a call is INTERNAL, with its cause", async () => {
    const t = testKernel();
    const { sys, start } = await t.start();
    const bug = new TypeError("x is not a function");
    t.kernel.contexts.prompt = () => {
      throw bug;
    };
    const error = await sys.buildPrompt(start.ctxId).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(SyscallError);
    expect(error).toMatchObject({ code: "INTERNAL", syscall: "BuildPrompt", pid: 1, cause: bug });
  });
});
