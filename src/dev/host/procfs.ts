/** The host's process list, read from /proc. Without it (macOS) nothing is listed and groups are all there is. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

export const hasProcfs = existsSync("/proc/self/stat");

export interface OsProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  /** Since boot, in clock ticks: with the pid it names a process for good. */
  readonly startTicks: number;
  /** By SIGSTOP and its like. */
  readonly isStopped: boolean;
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
  const startTicks = Number(fields[19]);
  return { pid, ppid: Number(ppid), group: Number(group), startTicks, isStopped: state === "T" };
}

/** Does the host's kernel tell children by their parent? Without, a list of all must be read. */
export const hasChildren = existsSync(`/proc/self/task/${process.pid}/children`);

/** Whichever thread started them; those that only wait to be reaped among them. */
export function childrenOf(pid: number): number[] {
  const threads = listOrEmpty(`/proc/${pid}/task`);
  return threads.flatMap((thread) => numbersIn(readOrEmpty(`/proc/${pid}/task/${thread}/children`)));
}

/** Children, their children and so on, parents first. */
export function descendantsOf(pid: number): number[] {
  const found = childrenOf(pid);
  for (let at = 0; at < found.length; at++) found.push(...childrenOf(found[at] as number));
  return found;
}

/** The environment a process was started with, as `\0NAME=value\0…\0`; "" where it may not be read. */
export function readEnviron(pid: number): string {
  return `\0${readOrEmpty(`/proc/${pid}/environ`)}\0`;
}

/** The pid that was given out last; 0 where unknown. */
export function lastPid(): number {
  return Number(readOrEmpty("/proc/loadavg").trim().split(" ").at(-1) ?? 0) || 0;
}

function numbersIn(text: string): number[] {
  return text.split(" ").filter(Boolean).map(Number);
}

function listOrEmpty(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** False: it is gone already. Negative: a group. Never to 0 and -1, the sender's own group and everybody. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  if (pid === 0 || pid === -1) return false;
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
