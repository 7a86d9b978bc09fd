/** The host's process list, read from /proc. Without it (macOS) nothing is listed and groups are all there is. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

export const hasProcfs = existsSync("/proc/self/stat");

export interface OsProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  /** Since boot, in clock ticks: with the pid it names a process for good. */
  readonly startTicks: number;
}

export function listPids(): number[] {
  if (!hasProcfs) return [];
  return readdirSync("/proc")
    .filter((name) => name.charCodeAt(0) >= 48 && name.charCodeAt(0) <= 57)
    .map(Number);
}

/** undefined: gone, or only waiting to be reaped by whoever owns it. */
export function findProcess(pid: number): OsProcess | undefined {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // the name, second, stands in parentheses and may hold blanks and parentheses itself
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, ppid, group] = fields;
  if (stat === "" || state === "Z" || state === "X") return undefined;
  return { pid, ppid: Number(ppid), group: Number(group), startTicks: Number(fields[19]) };
}

/** The environment a process was started with, as `\0NAME=value\0…\0`; "" where it may not be read. */
export function readEnviron(pid: number): string {
  return `\0${readOrEmpty(`/proc/${pid}/environ`)}\0`;
}

/** The pid that was given out last; 0 where unknown. */
export function lastPid(): number {
  return Number(readOrEmpty("/proc/loadavg").trim().split(" ").at(-1) ?? 0) || 0;
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** False: it is gone already. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
