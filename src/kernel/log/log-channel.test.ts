import { describe, expect, test } from "vitest";
import type { LogEntry } from "../../abi/events.ts";
import { LIMITS } from "../limits.ts";
import { LogChannel } from "./log-channel.ts";

const entry = (n: number): LogEntry => ({ timestampMs: n, level: "info", message: `line ${n}` });

function channelOf(count: number): LogChannel {
  const channel = new LogChannel();
  for (let n = 1; n <= count; n++) channel.emit(entry(n));
  return channel;
}

const numbers = (entries: readonly LogEntry[]): number[] => entries.map(({ timestampMs }) => timestampMs);

describe("LogChannel", () => {
  test.each([
    [0, []],
    [2, [2, 3]],
    [9, [1, 2, 3]],
  ])("gives the newest %i lines of three, and the end to who does not follow", async (tail, expected) => {
    const lines = await Array.fromAsync(channelOf(3).attach({ tail, follow: false }));
    expect(numbers(lines)).toEqual(expected);
  });

  test("keeps the newest 256", async () => {
    const lines = await Array.fromAsync(channelOf(300).attach({ tail: 1_000, follow: false }));
    expect([lines.length, lines[0]?.timestampMs]).toEqual([LIMITS.logEntries, 45]);
  });

  test("goes on for who follows, until the end", async () => {
    const channel = channelOf(2);
    const lines = Array.fromAsync(channel.attach({ tail: 1, follow: true }));
    channel.emit(entry(3));
    await Promise.resolve();
    channel.emit(entry(4));
    channel.end();
    channel.emit(entry(5));
    expect(numbers(await lines)).toEqual([2, 3, 4]);
    const late = await Array.fromAsync(channel.attach({ tail: 9, follow: true }));
    expect(numbers(late)).toEqual([1, 2, 3, 4]);
  });

  test("a slow reader loses the newest, which are counted; others do not", async () => {
    const channel = new LogChannel();
    const [slow, closed] = [0, 1].map(() => channel.attach({ tail: 0, follow: true }));
    closed?.close();
    for (let n = 1; n <= LIMITS.logEntries + 5; n++) channel.emit(entry(n));
    channel.end();
    expect([slow?.dropped, closed?.dropped]).toEqual([5, 0]);
    expect(await Array.fromAsync(slow ?? [])).toHaveLength(LIMITS.logEntries);
    expect(await Array.fromAsync(closed ?? [])).toEqual([]);
  });
});
