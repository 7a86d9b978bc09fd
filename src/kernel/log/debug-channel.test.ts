import { describe, expect, test } from "vitest";
import type { SyscallEvent } from "../../abi/events.ts";
import { asPid } from "../../abi/ids.ts";
import { testKernel } from "../testing/test-kernel.ts";
import { DebugChannel } from "./debug-channel.ts";

const event = (n: number, quiet = false): SyscallEvent => ({
  timestampMs: n,
  pid: asPid(1),
  syscall: "Open",
  args: {},
  durationMs: 0,
  ...(quiet ? { quiet } : {}),
});
const numbers = async (events: AsyncIterable<SyscallEvent>) =>
  (await Array.fromAsync(events)).map((e) => e.timestampMs);

describe("DebugChannel", () => {
  test("nobody attached: keeps the newest 256", async () => {
    const channel = new DebugChannel();
    for (let n = 0; n < 1_000; n++) channel.emit(event(n));
    const reader = channel.attach({ all: false });
    channel.close();
    expect(await numbers(reader)).toEqual(Array.from({ length: 256 }, (_, n) => 744 + n));
    expect(reader.dropped).toBe(0);
  });

  test("a slow reader loses the new ones, and is told how many", async () => {
    const channel = new DebugChannel();
    const reader = channel.attach({ all: false });
    for (let n = 0; n < 300; n++) channel.emit(event(n));
    expect(reader.dropped).toBe(44);
    channel.close();
    expect(await numbers(reader)).toEqual(Array.from({ length: 256 }, (_, n) => n));
  });

  test("end() ends readers at once; a later one still gets what is kept, and its end", async () => {
    const channel = new DebugChannel();
    const early = channel.attach({ all: false });
    channel.emit(event(1));
    channel.end();
    expect(await numbers(early)).toEqual([1]);
    expect(await numbers(channel.attach({ all: false }))).toEqual([1]);
  });

  test("two readers get all, each at its own pace", async () => {
    const channel = new DebugChannel();
    channel.emit(event(0));
    const [a, b] = [channel.attach({ all: false }), channel.attach({ all: false })];
    channel.emit(event(1));
    const first = numbers(a);
    channel.emit(event(2));
    channel.close();
    expect(await first).toEqual([0, 1, 2]);
    expect(await numbers(b)).toEqual([0, 1, 2]);
  });

  test("quiet calls only for who asks for all", async () => {
    const channel = new DebugChannel();
    channel.emit(event(0, true));
    const [some, all] = [channel.attach({ all: false }), channel.attach({ all: true })];
    channel.emit(event(1, true));
    channel.emit(event(2));
    channel.close();
    expect([await numbers(some), await numbers(all)]).toEqual([[2], [0, 1, 2]]);
  });

  test("a reader that goes away leaves the others alone", async () => {
    const channel = new DebugChannel();
    const [a, b] = [channel.attach({ all: false }), channel.attach({ all: false })];
    a.close();
    a.close();
    channel.emit(event(0));
    channel.close();
    expect([await numbers(a), await numbers(b)]).toEqual([[], [0]]);
  });

  test("emit() after close throws nowhere, attach() then is at its end", async () => {
    const channel = new DebugChannel();
    channel.emit(event(0));
    channel.close();
    channel.emit(event(1));
    expect(await numbers(channel.attach({ all: true }))).toEqual([]);
  });
});

describe("attachDebug()", () => {
  test("ends when its process is reaped; a late call disturbs nobody", async () => {
    const t = testKernel();
    const { pid, sys, end } = await t.start();
    const reader = t.kernel.attachDebug(pid, { all: false });
    end();
    await t.init.wait(pid);
    await expect(sys.listProcs()).rejects.toMatchObject({ code: "CANCELLED" });
    expect((await Array.fromAsync(reader)).map((e) => e.syscall)).toEqual(["Open"]);
    expect(() => t.kernel.attachDebug(pid, { all: false })).toThrow("process not found: 1");
  });
});
