import { describe, expect, test } from "vitest";
import { asPid } from "../../../abi/ids.ts";
import { LIMITS } from "../../limits.ts";
import { NOTHING_LEFT, testKernel } from "../../testing/test-kernel.ts";
import { settle } from "../../testing/virtual-clock.ts";

describe("Reaper", () => {
  test("shows a zombie for 60 s", async () => {
    const t = testKernel();
    const pid = await t.init.spawn("a", null);
    await t.clock.advance(59_999);
    expect((await t.init.listProcs()).map((p) => [p.pid, p.state])).toEqual([[pid, "zombie"]]);
    await t.clock.advance(1);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("reaps the oldest of more than are shown at once", async () => {
    const t = testKernel();
    const pids: number[] = [];
    for (let n = 0; n < LIMITS.zombies + 3; n++) pids.push(await t.init.spawn("a", null));
    await settle();
    const shown = (await t.init.listProcs()).map(({ pid }) => pid);
    expect(shown).toEqual(pids.slice(3));
    await t.clock.advance(LIMITS.zombieMs);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("takes it at once when its client has gone, and not before", async () => {
    const t = testKernel();
    const { pid, events } = await t.kernel.spawnWatched("a", null, {});
    await Array.fromAsync(events);
    await t.clock.advance(120_000);
    expect(t.proc(pid).state).toBe("zombie");
    events.close();
    await settle();
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("waits 60 s when the client went before the exit", async () => {
    const t = testKernel();
    const gate = Promise.withResolvers<void>();
    t.programs.set("a", async () => {
      await gate.promise;
      return { code: 0, reason: "completed", kind: "done" };
    });
    const { pid, events } = await t.kernel.spawnWatched("a", null, {});
    events.close();
    gate.resolve();
    await t.clock.advance(59_999);
    expect(t.proc(pid).state).toBe("zombie");
    await t.clock.advance(1);
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("forgets one that somebody else reaped", async () => {
    const t = testKernel();
    const pid = await t.init.spawn("a", null);
    await settle();
    expect(t.clock.pending).toBe(1);
    await t.init.wait(pid);
    expect(t.clock.pending).toBe(0);
  });

  test("leaves a watched child of a reaped parent to its client", async () => {
    const t = testKernel();
    const parent = await t.start();
    const { pid, events } = await t.kernel.spawnWatched("a", null, { parentPid: parent.pid });
    await t.proc(pid).done.promise;
    parent.end();
    await t.init.wait(parent.pid);
    await settle();
    expect(t.proc(pid)).toMatchObject({ state: "zombie", ppid: 0 });
    events.close();
    await settle();
    expect(t.kernel.table.get(asPid(pid))).toBeUndefined();
  });
});
