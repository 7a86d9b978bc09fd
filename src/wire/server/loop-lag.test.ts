import { expect, it } from "vitest";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { type DelayHistogram, LoopLag } from "./loop-lag.ts";

class Delays implements DelayHistogram {
  max = 0;
  isOn = false;
  /** `ms` late, on top of the tick of 20 ms. */
  late(ms: number): void {
    this.max = Math.max(this.max, (20 + ms) * 1e6);
  }
  reset(): void {
    this.max = 0;
  }
  enable(): boolean {
    this.isOn = true;
    return true;
  }
  disable(): boolean {
    this.isOn = false;
    return true;
  }
}

it("longestMs() is the longest delay beyond a tick, and forgets it within two windows, though nobody asked", async () => {
  const clock = new VirtualClock();
  const delays = new Delays();
  const lag = new LoopLag(clock, delays);
  lag.start();
  expect(delays.isOn).toBe(true);
  expect(lag.longestMs()).toBe(0);
  delays.late(120);
  expect(lag.longestMs()).toBe(120);
  await clock.advance(5_000);
  delays.late(3);
  expect(lag.longestMs()).toBe(120);
  await clock.advance(5_000);
  expect(lag.longestMs()).toBe(3);
  delays.late(80);
  await clock.advance(60_000);
  expect(lag.longestMs()).toBe(0);
  lag.stop();
  expect([delays.isOn, clock.pending]).toEqual([false, 0]);
});
