import { describe, expect, test } from "vitest";
import type { Act } from "../../abi/device.ts";
import { asFd, asPid } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import { ByteDevice } from "../testing/fake-devices.ts";
import {
  bytes,
  NOTHING_LEFT,
  type Started,
  type TestKernel,
  testKernel,
  text,
} from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

/** A parent with two children and a pipe from the first to the second. */
async function piped(): Promise<{
  t: TestKernel;
  parent: Started;
  from: Started & { write(data: Uint8Array | string, signal?: AbortSignal): Promise<void> };
  to: Started & { read(length?: number, signal?: AbortSignal): Promise<string> };
  fds: { writeFd: ReturnType<typeof asFd>; readFd: ReturnType<typeof asFd> };
}> {
  const t = testKernel();
  const parent = await t.start();
  const [from, to] = [await t.start({ by: parent.sys }), await t.start({ by: parent.sys })];
  const fds = await parent.sys.pipe(from.pid, to.pid);
  return {
    t,
    parent,
    fds,
    from: {
      ...from,
      write: (data, signal) =>
        from.sys.write(fds.writeFd, typeof data === "string" ? bytes(data) : data, signal),
    },
    to: { ...to, read: async (length = 100, signal) => text(await to.sys.read(fds.readFd, length, signal)) },
  };
}

describe("pipe()", () => {
  test("puts each end into its own process's table, under one name", async () => {
    const { fds, from, to, t } = await piped();
    expect(fds).toEqual({ writeFd: 4, readFd: 4 });
    expect(from.proc.fds.list()[1]).toEqual({ fd: 4, path: "pipe:[1]", flags: 1 });
    expect(to.proc.fds.list()[1]).toEqual({ fd: 4, path: "pipe:[1]", flags: 0 });
    const second = await t.init.pipe(from.pid, from.pid);
    expect(second).toEqual({ writeFd: 5, readFd: 6 });
    expect(from.proc.fds.list()[2]?.path).toBe("pipe:[2]");
  });

  test("carries bytes, and an end that is empty", async () => {
    const { fds, from, to } = await piped();
    await from.write("one ");
    await from.write("two");
    expect(await to.read(6)).toBe("one tw");
    expect(await to.read()).toBe("o");
    await from.sys.close(fds.writeFd);
    expect([await to.read(), await to.read()]).toEqual(["", ""]);
  });

  test("is traced by the number of its bytes", async () => {
    const { from, to, t } = await piped();
    const trace = t.kernel.attachDebug(to.pid, { all: false });
    await from.write("four");
    await to.read();
    to.end();
    const events = await Array.fromAsync(trace);
    expect(events.at(-1)).toMatchObject({
      syscall: "Read",
      result: 4,
      device: "pipe:[1]",
      traffic: "byte",
    });
  });

  test("each end is for its direction only", async () => {
    const { fds, from, to } = await piped();
    await expect(from.sys.read(fds.writeFd, 1)).rejects.toMatchObject({ code: "INVALID" });
    await expect(to.sys.write(fds.readFd, bytes("x"))).rejects.toMatchObject({ code: "INVALID" });
  });

  test("holds a writer when it is full; one that gives up is told what went in", async () => {
    const { from, to } = await piped();
    await from.write(new Uint8Array(LIMITS.pipeBytes - 10));
    const stop = new AbortController();
    const held = expect(from.write(new Uint8Array(5_000), stop.signal)).rejects.toMatchObject({
      code: "CANCELLED",
      message: "cancelled: 10 of 5000 bytes went into the pipe",
    });
    await settle();
    stop.abort();
    await held;
    expect((await to.read(LIMITS.pipeBytes + 1)).length).toBe(LIMITS.pipeBytes);
  });

  test("is DRIVER `broken pipe` to write when the reader has ended", async () => {
    const { from, to, t } = await piped();
    await from.write(new Uint8Array(LIMITS.pipeBytes));
    const held = expect(from.write("x")).rejects.toMatchObject({ code: "DRIVER", message: "broken pipe" });
    to.end();
    await held;
    await expect(from.write("x")).rejects.toMatchObject({ code: "DRIVER", device: "pipe:[1]", op: "Write" });
    expect(t.logs).toEqual([]);
  });

  test("ends for the reader when the writer is killed", async () => {
    const { from, to, t } = await piped();
    await from.write("last words");
    const read = [to.read(4), to.read()];
    await t.init.kill(from.pid, 2);
    expect(await Promise.all(read)).toEqual(["last", " words"]);
    expect(await to.read()).toBe("");
  });

  test("a read that is given up takes nothing, and one that has its bytes keeps them", async () => {
    const { fds, from, to } = await piped();
    const [early, late] = [new AbortController(), new AbortController()];
    const given = expect(to.read(9, early.signal)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    early.abort();
    await given;
    const read = to.read(9, late.signal);
    await settle();
    // in the turn in which the bytes come, before the reader has heard of them
    const { file } = from.proc.fds.find(fds.writeFd, "Write");
    const written = file.write(bytes("kept"), { signal: new AbortController().signal } as Act);
    late.abort();
    await written;
    expect(await read).toBe("kept");
  });

  test("wants control of both ends", async () => {
    const { parent, from, to, t } = await piped();
    const stranger = await t.start();
    await expect(from.sys.pipe(from.pid, to.pid)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(from.sys.pipe(from.pid, parent.pid)).rejects.toMatchObject({ code: "PERMISSION" });
    await expect(stranger.sys.pipe(stranger.pid, from.pid)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(t.init.pipe(from.pid, asPid(99))).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await parent.sys.pipe(parent.pid, from.pid)).toEqual({ writeFd: 4, readFd: 5 });
  });

  test("with one that has ended is NOT_FOUND, and leaves no end with the other", async () => {
    const { parent, from, to } = await piped();
    to.end();
    await to.proc.done.promise;
    await expect(parent.sys.pipe(from.pid, to.pid)).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: `process has ended: ${to.pid}`,
    });
    expect(from.proc.fds.size).toBe(2);
  });

  test("into a full table is UNAVAILABLE, and leaves no end with the other", async () => {
    const { t, parent, from, to } = await piped();
    t.kernel.mount("/dev/bytes", new ByteDevice());
    for (let n = 2; n < LIMITS.openFds; n++) await to.sys.open("/dev/bytes/a", 0);
    for (let n = 0; n < 3; n++)
      await expect(parent.sys.pipe(from.pid, to.pid)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect([from.proc.fds.size, to.proc.fds.size]).toEqual([2, LIMITS.openFds]);
    await to.sys.close(asFd(9));
    expect((await parent.sys.pipe(from.pid, to.pid)).writeFd).toBe(5);
  });

  test("leaves nothing when its processes are gone", async () => {
    const { t, from, to, parent } = await piped();
    const held = [to.read(), from.write(new Uint8Array(LIMITS.pipeBytes * 2))];
    const ended = Promise.allSettled(held);
    for (const { pid } of [from, to, parent]) await t.init.kill(pid, 1);
    await ended;
    for (const { pid } of [from, to, parent]) await t.init.wait(pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });
});
