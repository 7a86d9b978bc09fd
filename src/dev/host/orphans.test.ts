import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../testing.ts";
import { ownerMark, sweepOrphans } from "./orphans.ts";
import { hasProcfs, readEnviron } from "./procfs.ts";

const started: ChildProcess[] = [];

/** Starts a process as an earlier daemon would have, with its mark. */
async function leftBy(owner: string): Promise<ChildProcess> {
  const child = spawn("sleep", ["60"], {
    detached: true,
    stdio: "ignore",
    env: { ...process.env, CRUX_OWNER: owner },
  });
  started.push(child);
  await once(child, "spawn");
  // before its exec the child still shows the environment of this process
  await until(() => readEnviron(child.pid ?? 0).includes(owner), "the process carries its mark");
  return child;
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

describe.runIf(hasProcfs)("sweepOrphans", () => {
  it("ends what older epochs of this kernel started, and nothing else", async () => {
    const kernelId = `k-${process.pid}`;
    const old = await leftBy(`${kernelId}:3`);
    const spared = [await leftBy(`${kernelId}:4`), await leftBy(`${kernelId}0:1`), await leftBy("another:1")];
    expect(await sweepOrphans({ kernelId, epoch: 4 })).toBe(1);
    await until(() => hasEnded(old), "the orphan ends");
    expect(old.signalCode).toBe("SIGKILL");
    expect(spared.map(hasEnded)).toEqual([false, false, false]);
    expect(await sweepOrphans({ kernelId, epoch: 4 })).toBe(0);
  });

  it("spares what a daemon that runs has started from a copy of its state directory, and no other", async () => {
    const kernelId = `k-${process.pid}-copied`;
    const mark = ownerMark({ kernelId, epoch: 3, stateDir: "/" });
    const child = await leftBy(mark);
    const copy = { kernelId, epoch: 4, stateDir: tmpdir() };
    expect([await sweepOrphans(copy), hasEnded(child)]).toEqual([0, false]);
    const ofTheDead = await leftBy(mark.replace(/\d+$/, "1"));
    expect(await sweepOrphans(copy)).toBe(1);
    await until(() => hasEnded(ofTheDead), "what a dead daemon left ends");
    // the daemon may be stopped: its successor on the same directory ends it
    expect(await sweepOrphans({ ...copy, stateDir: "/" })).toBe(1);
    await until(() => hasEnded(child), "the orphan ends");
  });
});
