import { describe, expect, test } from "vitest";
import { asFd, asPid } from "../../abi/ids.ts";
import { LIMITS } from "../limits.ts";
import { ByteDevice, hangingDevice, MessageDevice } from "../testing/fake-devices.ts";
import { bytes, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";
import { FdTable } from "./fd-table.ts";

async function opened() {
  const t = testKernel();
  const device = new ByteDevice();
  t.kernel.mount("/dev/bytes", device);
  return { t, device, ...(await t.start()) };
}

describe("fds", () => {
  test("count up from 3 and are never used again", async () => {
    const { sys, start } = await opened();
    expect(start.modelFd).toBe(3);
    const first = await sys.open("/dev/bytes/a", 0);
    await sys.close(first);
    expect([first, await sys.open("/dev/bytes/a", 0)]).toEqual([4, 5]);
  });

  test("each process has its own", async () => {
    const { t, sys } = await opened();
    await sys.open("/dev/bytes/a", 0);
    const other = await t.start();
    expect(await other.sys.open("/dev/bytes/a", 0)).toBe(4);
    await expect(other.sys.read(asFd(5), 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("the 1,025th is UNAVAILABLE, however many open at once; a close makes room", async () => {
    const { sys, device } = await opened();
    const all = await Promise.allSettled(
      Array.from({ length: LIMITS.openFds + 5 }, (_, n) => sys.open(`/dev/bytes/${n}`, 0)),
    );
    const refused = all.filter((each) => each.status === "rejected");
    // The model device has one.
    expect(refused).toHaveLength(6);
    expect(refused[0]?.reason).toMatchObject({ code: "UNAVAILABLE" });
    expect(device.live).toBe(LIMITS.openFds - 1);
    await sys.close(asFd(4));
    await sys.open("/dev/bytes/x", 0);
    await expect(sys.open("/dev/bytes/y", 0)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("an open that fails gives its place back", async () => {
    const { t, sys, proc } = await opened();
    const device = new MessageDevice();
    device.script.open = () => Promise.reject(new Error("no"));
    t.kernel.mount("/dev/no", device);
    for (let n = 0; n < LIMITS.openFds + 1; n++)
      await expect(sys.open("/dev/no", 2)).rejects.toMatchObject({ code: "INTERNAL" });
    expect(proc.fds.size).toBe(1);
    expect(await sys.open("/dev/bytes/a", 0)).toBe(4);
  });

  test("close() twice is NOT_FOUND; so is any call after it", async () => {
    const { sys } = await opened();
    const fd = await sys.open("/dev/bytes/a", 2);
    await sys.close(fd);
    for (const call of [() => sys.close(fd), () => sys.read(fd, 1), () => sys.write(fd, bytes("x"))])
      await expect(call()).rejects.toMatchObject({ code: "NOT_FOUND", message: `fd is not open: ${fd}` });
  });

  test("close() that fails in the device is an error, and the fd is gone", async () => {
    const { t, sys, proc } = await opened();
    const device = new MessageDevice();
    device.script.close = () => Promise.reject(new Error("flush"));
    t.kernel.mount("/dev/m", device);
    const fd = await sys.open("/dev/m", 2);
    await expect(sys.close(fd)).rejects.toMatchObject({ code: "INTERNAL", device: "/dev/m", op: "Close" });
    expect(proc.fds.list().map((each) => each.fd)).toEqual([3]);
  });

  test.each(["read", "write"] as const)("close() ends a %s under way", async (direction) => {
    const { t, sys } = await opened();
    t.kernel.mount("/dev/hang", hangingDevice());
    const fd = await sys.open("/dev/hang", 2);
    const call = direction === "read" ? sys.read(fd, 1) : sys.write(fd, bytes("x"));
    const ended = expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    await sys.close(fd);
    await ended;
  });
});

describe("fds 0 and 1", () => {
  async function draft(device: ByteDevice, flags: 0 | 1 | 2 = 2) {
    const file = await device.open("/x");
    return { file, path: "/dev/bytes/x", mount: "/dev/bytes", traffic: "byte", flags } as const;
  }

  test("are installed beside the others, which go on from 3; closed last, 1 before 0", async () => {
    const table = new FdTable(asPid(1));
    const device = new ByteDevice();
    for (const fd of [0, 1]) table.install(asFd(fd), await draft(device));
    const order: number[] = [];
    const { fd } = table.add({ ...(await draft(device)), onClose: () => order.push(3) });
    expect([fd, table.has(asFd(0)), table.has(asFd(2)), table.size]).toEqual([3, true, false, 3]);
    for (const n of [0, 1]) {
      const { file } = table.find(asFd(n), "Read");
      const { close } = file;
      file.close = async () => {
        order.push(n);
        await close();
      };
    }
    await table.closeAll(() => {});
    expect([order, device.live, table.isEnded]).toEqual([[3, 1, 0], 0, true]);
  });

  test("take() takes a file out without closing it; another table closes it, once, and its owner hears", async () => {
    const [mine, yours, device] = [new FdTable(asPid(1)), new FdTable(asPid(2)), new ByteDevice()];
    let closes = 0;
    const { fd, closing } = mine.add({ ...(await draft(device, 0)), onClose: () => closes++ });
    const taken = mine.take(fd);
    expect([closing.signal.aborted, mine.has(fd), device.live]).toEqual([true, false, 1]);
    expect(() => mine.take(fd)).toThrow(expect.objectContaining({ code: "NOT_FOUND", op: "Spawn" }));
    yours.install(asFd(0), taken);
    expect(yours.find(asFd(0), "Read").closing.signal.aborted).toBe(false);
    expect(yours.list()).toEqual([{ fd: 0, path: "/dev/bytes/x", flags: 0 }]);
    await mine.closeAll(() => {});
    expect(device.live).toBe(1);
    await yours.closeAll(() => {});
    expect([device.live, closes]).toEqual([0, 1]);
  });
});

describe("order of calls", () => {
  async function messages() {
    const base = await opened();
    const device = new MessageDevice();
    base.t.kernel.mount("/dev/m", device);
    return { ...base, message: device, fd: await base.sys.open("/dev/m", 2) };
  }

  test("writes on one fd run one after another, past one that fails", async () => {
    const { sys, fd, message } = await messages();
    const log: string[] = [];
    message.script.act = async (data) => {
      const name = Buffer.from(data).toString();
      log.push(`${name} begins`);
      await settle();
      log.push(`${name} ends`);
      if (name === "a") throw new Error("failed");
    };
    const writes = ["a", "b"].map((name) => sys.write(fd, bytes(name)));
    expect((await Promise.allSettled(writes)).map((w) => w.status)).toEqual(["rejected", "fulfilled"]);
    expect(log).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  });

  test("a read may wait beside a write", async () => {
    const { sys, fd, message } = await messages();
    const gate = Promise.withResolvers<void>();
    message.script.act = () => gate.promise;
    const write = sys.write(fd, bytes("x"));
    expect((await sys.read(fd, 8)).byteLength).toBe(0);
    gate.resolve();
    await write;
  });

  test("who gives up while it waits leaves at once, and its write does not happen", async () => {
    const { sys, fd, message, t } = await messages();
    const gate = Promise.withResolvers<void>();
    message.script.act = () => gate.promise;
    const first = sys.write(fd, bytes("first"));
    await settle();
    const stop = new AbortController();
    const second = expect(sys.write(fd, bytes("second"), stop.signal)).rejects.toMatchObject({
      code: "CANCELLED",
    });
    const third = sys.write(fd, bytes("third"));
    await settle();
    stop.abort();
    await second;
    expect(message.written).toEqual([]);
    gate.resolve();
    await Promise.all([first, third]);
    expect(message.written).toEqual(["first", "third"]);
    expect(t.journal.kinds().filter((kind) => kind === "call.intent")).toHaveLength(2);
  });

  test("what waits on a file that is closed does not happen", async () => {
    const { sys, fd, message } = await messages();
    message.script.act = (_data, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const writes = Promise.allSettled(["a", "b"].map((name) => sys.write(fd, bytes(name))));
    await settle();
    await sys.close(fd);
    expect((await writes).map((w) => (w.status === "rejected" ? w.reason.code : "done"))).toEqual([
      "CANCELLED",
      "CANCELLED",
    ]);
    expect(message.written).toEqual([]);
  });

  test("a read of a device that ignores its signal ends for the caller", async () => {
    const { t, sys } = await opened();
    t.kernel.mount("/dev/deaf", hangingDevice({ deaf: true }));
    const fd = await sys.open("/dev/deaf", 0);
    const stop = new AbortController();
    const read = expect(sys.read(fd, 1, stop.signal)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    stop.abort();
    await read;
  });
});
