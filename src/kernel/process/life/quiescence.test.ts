import { describe, expect, test } from "vitest";
import { Quiescence } from "./quiescence.ts";

const never = new Promise<void>(() => {});
const turns = () => new Promise((resolve) => setImmediate(resolve));

describe("Quiescence", () => {
  test("is reached where the program is held and no call is under way", async () => {
    const quiescence = new Quiescence();
    let isReached = false;
    void quiescence.reached().then(() => {
      isReached = true;
    });
    expect(quiescence.isQuiescent).toBe(false);
    quiescence.begin();
    void quiescence.hold(never);
    await turns();
    expect([quiescence.isQuiescent, isReached]).toEqual([false, false]);
    quiescence.end();
    await turns();
    expect([quiescence.isQuiescent, isReached]).toEqual([true, true]);
    await quiescence.reached();
  });

  test("a call that waits for a person is not under way meanwhile", async () => {
    const quiescence = new Quiescence();
    const answer = Promise.withResolvers<string>();
    quiescence.begin();
    const asked = quiescence.suspend(answer.promise);
    expect(quiescence.isQuiescent).toBe(true);
    answer.resolve("yes");
    expect(await asked).toBe("yes");
    expect(quiescence.isQuiescent).toBe(false);
    quiescence.end();
    expect(quiescence.isQuiescent).toBe(false);
  });

  test("what is held and fails is held no more", async () => {
    const quiescence = new Quiescence();
    quiescence.begin();
    await expect(quiescence.suspend(Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    await expect(quiescence.hold(Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    quiescence.end();
    expect(quiescence.isQuiescent).toBe(false);
    const held = quiescence.hold(never);
    expect([quiescence.isQuiescent, held]).toEqual([true, expect.any(Promise)]);
  });
});
