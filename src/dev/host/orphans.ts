/** Ends the processes that a killed daemon left running, before the next daemon starts anything. */
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcess, listPids, readEnviron, sendSignal } from "./procfs.ts";

/** A process that survives KILL this long hangs in the host's kernel; boot continues without it. */
const giveUpMs = 5_000;

/** A daemon: its kernel, the number of its run, and its state directory (absent: it has none). */
export interface Owner {
  readonly kernelId: string;
  readonly epoch: number;
  readonly stateDir?: string | undefined;
}

/** The mark (`CRUX_OWNER`) of what this daemon starts: `<kernel>:<epoch>:<state directory>:<pid>.<ticks>`. */
export function ownerMark({ kernelId, epoch, stateDir }: Owner): string {
  const ticks = findProcess(process.pid)?.startTicks ?? 0;
  return `${kernelId}:${epoch}:${placeOf(stateDir)}:${process.pid}.${ticks}`;
}

function placeOf(dir: string | undefined): string {
  const stats = dir === undefined ? undefined : statSync(dir, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.dev}-${stats.ino}`;
}

/**
 * Ends every process of this user that an older epoch of this kernel started; resolves when they have ended. The
 * calling process and its ancestors are spared, whatever marks they carry, and so is what belongs to a daemon that runs on
 * another state directory: this one is a copy of it, or it of this one. Returns how many were ended; 0 without /proc.
 */
export async function sweepOrphans(owner: Owner): Promise<number> {
  const spared = ownLine();
  const place = placeOf(owner.stateDir);
  const ended = new Set<number>();
  const untilMs = performance.now() + giveUpMs;
  for (let waitMs = 2; performance.now() < untilMs; waitMs = Math.min(waitMs * 2, 50)) {
    const left = listPids().filter((pid) => !spared.has(pid) && isOrphan(pid, owner, place));
    if (left.length === 0) break;
    for (const pid of left) if (sendSignal(pid, "SIGKILL")) ended.add(pid);
    await sleep(waitMs);
  }
  return ended.size;
}

function isOrphan(pid: number, { kernelId, epoch }: Owner, place: string): boolean {
  const mark = `\0CRUX_OWNER=${kernelId}:`;
  const environ = readEnviron(pid);
  const at = environ.indexOf(mark);
  if (at < 0 || findProcess(pid) === undefined || !isOwnUser(pid)) return false;
  const rest = environ.slice(at + mark.length, environ.indexOf("\0", at + mark.length));
  const [, run, where, daemon, ticks] = /^(\d+)(?::([\d-]*):(\d+)\.(\d+))?$/.exec(rest) ?? [];
  if (run === undefined || Number(run) >= epoch) return false;
  // a daemon of this directory may only be stopped: what it has started is its successor's to end
  return where === undefined || where === place || findProcess(Number(daemon))?.startTicks !== Number(ticks);
}

/** This process and its ancestors. */
function ownLine(): ReadonlySet<number> {
  const line = new Set([process.pid]);
  for (let pid = process.ppid; pid > 0 && !line.has(pid); pid = findProcess(pid)?.ppid ?? 0) line.add(pid);
  return line;
}

function isOwnUser(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.getuid?.();
}
