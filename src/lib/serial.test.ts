import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Serial } from "./serial.ts";

describe("Serial", () => {
  test("run one after another, in order, past one that fails", async () => {
    const [serial, log] = [new Serial(), [] as string[]];
    const act = (name: string) => async () => {
      log.push(`${name} begins`);
      await setImmediate();
      log.push(`${name} ends`);
      if (name === "a") throw new Error("failed");
      return name;
    };
    const results = await Promise.allSettled(["a", "b", "c"].map((name) => serial.run(act(name))));
    expect(results.map((each) => (each.status === "fulfilled" ? each.value : "failed"))).toEqual([
      "failed",
      "b",
      "c",
    ]);
    expect(log).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  test("who gives up while it waits leaves at once, and does not act; the next keeps its turn", async () => {
    const [serial, log, stop] = [new Serial(), [] as string[], new AbortController()];
    const gate = Promise.withResolvers<void>();
    const first = serial.run(() => gate.promise.then(() => log.push("first")));
    const second = expect(serial.run(async () => log.push("second"), stop.signal)).rejects.toThrow("gave up");
    const third = serial.run(async () => log.push("third"), stop.signal);
    third.catch(() => {});
    const last = serial.run(async () => log.push("last"));
    await setImmediate();
    stop.abort(new Error("gave up"));
    await second;
    expect(log).toEqual([]);
    gate.resolve();
    await Promise.all([first, last]);
    expect(log).toEqual(["first", "last"]);
  });

  test("one that throws before it waits rejects its own run only", async () => {
    const serial = new Serial();
    const thrown = serial.run(() => {
      throw new Error("at once");
    });
    await expect(thrown).rejects.toThrow("at once");
    expect(await serial.run(async () => 1)).toBe(1);
  });
});
