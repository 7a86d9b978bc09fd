/** Ends the processes that a killed daemon left running, before the next daemon starts anything. */
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { findProcess, listPids, readEnviron, sendSignal } from "./procfs.ts";

/** A process that survives KILL this long hangs in the host's kernel; boot continues without it. */
const giveUpMs = 5_000;

/**
 * Ends every process of this user that an older epoch of this kernel started; resolves when they have ended. The
 * calling process and its ancestors are spared, whatever marks they carry. Returns how many were ended; 0 without
 * /proc.
 */
export async function sweepOrphans(kernelId: string, currentEpoch: number): Promise<number> {
  const spared = ownLine();
  const ended = new Set<number>();
  const untilMs = performance.now() + giveUpMs;
  for (let waitMs = 2; performance.now() < untilMs; waitMs = Math.min(waitMs * 2, 50)) {
    const left = listPids().filter((pid) => !spared.has(pid) && isOrphan(pid, kernelId, currentEpoch));
    if (left.length === 0) break;
    for (const pid of left) if (sendSignal(pid, "SIGKILL")) ended.add(pid);
    await sleep(waitMs);
  }
  return ended.size;
}

function isOrphan(pid: number, kernelId: string, currentEpoch: number): boolean {
  const mark = `\0CRUX_OWNER=${kernelId}:`;
  const environ = readEnviron(pid);
  const at = environ.indexOf(mark);
  if (at < 0 || findProcess(pid) === undefined || !isOwnUser(pid)) return false;
  const epoch = environ.slice(at + mark.length, environ.indexOf("\0", at + mark.length));
  return /^\d+$/.test(epoch) && Number(epoch) < currentEpoch;
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
