import { expect, test } from "vitest";
import { Outlet } from "./outlet.ts";

/** A stdout that takes what it was given when it is told to. */
class SlowConsole {
  readonly waiting: Array<() => void> = [];
  raw(): Promise<void> {
    return new Promise((taken) => this.waiting.push(taken));
  }
  async take(count: number): Promise<void> {
    for (const taken of this.waiting.splice(0, count)) taken();
    await Promise.resolve();
    await Promise.resolve();
  }
}

test("Outlet holds the run once while much waits, and releases it when little does", async () => {
  const console = new SlowConsole();
  const told: string[] = [];
  const outlet = new Outlet(console, { hold: () => told.push("hold"), release: () => told.push("release") });
  const line = "x".repeat(64 * 1024);
  for (let n = 0; n < 3; n++) outlet.put(line);
  expect(told).toEqual([]);
  for (let n = 0; n < 3; n++) outlet.put(line);
  expect(told).toEqual(["hold"]);
  await console.take(4);
  expect(told).toEqual(["hold"]);
  await console.take(1);
  expect(told).toEqual(["hold", "release"]);
  await console.take(1);
  await outlet.flushed();
  expect(told).toEqual(["hold", "release"]);
});
