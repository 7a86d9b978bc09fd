import { expect, test } from "vitest";
import type { Stall, StreamEvent } from "../abi/llm.ts";
import { settle, VirtualClock } from "../kernel/testing/virtual-clock.ts";
import { watched } from "./watchdog.ts";

test("watched() tells of each silence of more than 30 s between two events, and ends nothing for it", async () => {
  const clock = new VirtualClock();
  const silences = [60_000, 30_000, 31_000, 40_000];
  const source = async function* (): AsyncGenerator<StreamEvent> {
    for (const ms of silences) {
      await clock.sleep(ms, new AbortController().signal);
      yield { type: "ping" };
    }
  };
  const told: Stall[] = [];
  const aborts: unknown[] = [];
  const watch = {
    clock,
    device: "/dev/llm/test",
    patience: { firstMs: 90_000, gapMs: 90_000 },
    stalled: (stall: Stall) => void told.push(stall),
  };
  const events = Array.fromAsync(watched(source(), watch, (reason) => void aborts.push(reason)));
  for (const ms of silences) {
    await clock.advance(ms);
    await settle();
  }
  expect(await events).toHaveLength(4);
  expect(told).toEqual([
    { durationMs: 31_000, count: 1, totalMs: 31_000 },
    { durationMs: 40_000, count: 2, totalMs: 71_000 },
  ]);
  expect([aborts, clock.pending]).toEqual([[], 0]);
});
