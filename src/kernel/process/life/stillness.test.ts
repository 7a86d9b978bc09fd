import { describe, expect, test } from "vitest";
import { Stillness } from "./stillness.ts";

const never = new Promise<void>(() => {});
const turns = () => new Promise((resolve) => setImmediate(resolve));

describe("Stillness", () => {
  test("is reached where the program is held and no call is under way", async () => {
    const stillness = new Stillness();
    let isReached = false;
    void stillness.reached().then(() => {
      isReached = true;
    });
    expect(stillness.isStill).toBe(false);
    stillness.begin();
    void stillness.hold(never);
    await turns();
    expect([stillness.isStill, isReached]).toEqual([false, false]);
    stillness.end();
    await turns();
    expect([stillness.isStill, isReached]).toEqual([true, true]);
    await stillness.reached();
  });

  test("a call that waits for a person is not under way meanwhile", async () => {
    const stillness = new Stillness();
    const answer = Promise.withResolvers<string>();
    stillness.begin();
    const asked = stillness.suspend(answer.promise);
    expect(stillness.isStill).toBe(true);
    answer.resolve("yes");
    expect(await asked).toBe("yes");
    expect(stillness.isStill).toBe(false);
    stillness.end();
    expect(stillness.isStill).toBe(false);
  });

  test("what is held and fails is held no more", async () => {
    const stillness = new Stillness();
    stillness.begin();
    await expect(stillness.suspend(Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    await expect(stillness.hold(Promise.reject(new Error("gone")))).rejects.toThrow("gone");
    stillness.end();
    expect(stillness.isStill).toBe(false);
    const held = stillness.hold(never);
    expect([stillness.isStill, held]).toEqual([true, expect.any(Promise)]);
  });
});
