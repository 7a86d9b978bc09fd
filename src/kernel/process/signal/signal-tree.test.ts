import { describe, expect, test } from "vitest";
import { asPid } from "../../../abi/ids.ts";
import { EXIT } from "../../../abi/process.ts";
import { NOTHING_LEFT, type Started, type TestKernel, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

/** 1 → 2 → 3, 1 → 4, and 5 beside them. */
async function family(t: TestKernel): Promise<Started[]> {
  const one = await t.start();
  const two = await t.start({ by: one.sys });
  const three = await t.start({ by: two.sys });
  const four = await t.start({ by: one.sys });
  return [one, two, three, four, await t.start()];
}

describe("signalTree()", () => {
  test("reaches a process and all below it, and nobody else", async () => {
    const t = testKernel();
    const all = await family(t);
    expect(await t.kernel.signalTree(asPid(1), 4)).toEqual([1, 2, 3, 4]);
    expect(all.map(({ proc }) => proc.isPaused)).toEqual([true, true, true, true, false]);
    expect(await t.kernel.signalTree(asPid(2), 5)).toEqual([2, 3]);
    expect(all.map(({ proc }) => proc.isPaused)).toEqual([true, false, false, true, false]);
  });

  test("goes past those that have ended, and counts them not", async () => {
    const t = testKernel();
    const all = await family(t);
    all[1]?.end();
    await all[1]?.proc.done.promise;
    expect(await t.kernel.signalTree(asPid(1), 1)).toEqual([1, 3, 4]);
    await Promise.all(all.slice(0, 4).map(({ proc }) => proc.done.promise));
    expect(await t.kernel.signalTree(asPid(1), 1)).toEqual([]);
    expect(all.map(({ proc }) => proc.exit?.code)).toEqual([143, 0, 143, 143, undefined]);
    all[4]?.end();
    for (const { pid } of [all[0], all[4]].filter((one) => one !== undefined)) await t.init.wait(pid);
    await settle();
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("tells all in one step: nobody acts in between", async () => {
    const t = testKernel();
    const all = await family(t);
    const told = t.kernel.signalTree(asPid(1), 3);
    expect(all.map(({ proc }) => proc.ending.verdict)).toEqual([...Array(4).fill(EXIT.sigint), null]);
    await told;
  });

  test("is recorded before the sender hears of it", async () => {
    const t = testKernel();
    await family(t);
    const gate = Promise.withResolvers<void>();
    t.journal.gate = gate.promise;
    let heard = false;
    const told = t.kernel.signalTree(asPid(1), 4).then(() => {
      heard = true;
    });
    await settle();
    expect(heard).toBe(false);
    gate.resolve();
    await told;
    expect(t.journal.records.filter(({ kind }) => kind === "signal")).toHaveLength(4);
  });

  test("a child whose spawn is under way is ended with its parent", async () => {
    const t = testKernel();
    const parent = await t.start();
    t.model.script.open = () => new Promise(() => {});
    const spawned = expect(parent.sys.spawn("late", null)).rejects.toMatchObject({ code: "CANCELLED" });
    await settle();
    expect(await t.kernel.signalTree(parent.pid, 1)).toEqual([1, 2]);
    await spawned;
    await t.init.wait(parent.pid);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("an unknown pid is NOT_FOUND", async () => {
    const t = testKernel();
    await expect(t.kernel.signalTree(asPid(9), 1)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
