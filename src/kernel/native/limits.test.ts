import { describe, expect, test } from "vitest";
import type { NativeUsage } from "../ports/host.ts";
import { FakePrograms } from "../testing/fake-programs.ts";
import { MemorySpools } from "../testing/memory-spools.ts";
import { NOTHING_LEFT, testKernel } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";
import { CpuShare } from "./limits.ts";

describe("CpuShare", () => {
  test("holds what is beyond the share until the time for it has passed, and saves nothing up", () => {
    const share = new CpuShare(0.5, 0);
    const take = (used: number, at: number) => share.take(used, at).isHeld;
    expect(take(50, 100)).toBe(false);
    expect(take(150, 200)).toBe(true);
    expect(take(150, 250)).toBe(true);
    expect(take(150, 300)).toBe(false);
    // idle for ten seconds: not a burst of five
    expect(take(150, 10_300)).toBe(false);
    expect(take(250, 10_400)).toBe(true);
  });

  test.each([0.1, 0.5, 1, 2.5])("of %d cores is what four busy threads get", (cores) => {
    const share = new CpuShare(cores, 0);
    let [used, isHeld] = [0, false];
    for (let at = 100; at <= 100_000; at += 100) {
      if (!isHeld) used += 400;
      ({ isHeld } = share.take(used, at));
    }
    expect(used / 100_000 / cores).toBeCloseTo(1, 1);
  });
});

async function limited() {
  const programs = new FakePrograms();
  const t = testKernel({ exec: programs, spools: new MemorySpools() });
  const pid = await t.init.spawn("", null, { command: ["a"], options: { id: "a", cpuCores: 0.5 } });
  const use: { cpuMs: number } & NativeUsage = { cpuMs: 0, rssBytes: 0, children: 0 };
  Object.assign(programs.last, { usage: () => ({ ...use }) });
  const look = async (cpuMs: number): Promise<string[]> => {
    use.cpuMs = cpuMs;
    await t.clock.advance(100);
    return programs.last.signals.splice(0);
  };
  return { t, programs, pid, look };
}

describe("a program with a limit of processors", () => {
  test("is stopped while it has used more, and continued; a pause and an end come first", async () => {
    const { t, programs, pid, look } = await limited();
    expect(await look(50)).toEqual([]);
    expect(await look(150)).toEqual(["SIGSTOP"]);
    expect(await look(150)).toEqual(["SIGCONT"]);
    expect(t.proc(pid).isPaused).toBe(false);
    expect(await look(250)).toEqual(["SIGSTOP"]);
    await t.init.kill(pid, 4);
    expect(await look(250)).toEqual(["SIGSTOP"]);
    await t.init.kill(pid, 5);
    expect(await look(250)).toEqual(["SIGCONT"]);
    programs.stubborn.add("a");
    await t.init.kill(pid, 1);
    await t.init.wait(pid);
    await t.clock.advance(60_000);
    await settle();
    expect(t.census()).toEqual(NOTHING_LEFT);
  });

  test("that is to end is not stopped any more", async () => {
    const { t, programs, pid, look } = await limited();
    Object.assign(programs.last, { hear: (signal: string) => void programs.last.signals.push(signal) });
    await t.init.kill(pid, 1);
    expect(await look(1_000)).toEqual(["SIGTERM"]);
    programs.last.exit(3);
    expect(await t.init.wait(pid)).toMatchObject({ code: 3 });
  });
});
