/**
 * The host's process list, read from /proc. Without /proc (macOS) nothing is listed, and only process groups can be
 * used.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { NativeUsage } from "../../kernel/ports/host.ts";

export const hasProcfs = existsSync("/proc/self/stat");

export interface OsProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  /** Start time since boot, in clock ticks; together with the pid it identifies a process uniquely. */
  readonly startTicks: number;
  /** Stopped by SIGSTOP or a similar signal. */
  readonly isStopped: boolean;
}

export function listPids(): number[] {
  if (!hasProcfs) return [];
  return readdirSync("/proc")
    .filter((name) => name.charCodeAt(0) >= 48 && name.charCodeAt(0) <= 57)
    .map(Number);
}

/** undefined: the process has ended, or only waits to be reaped by its parent. */
export function findProcess(pid: number): OsProcess | undefined {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // the name, the second field, is in parentheses and may itself contain blanks and parentheses
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, ppid, group] = fields;
  if (stat === "" || state === "Z" || state === "X") return undefined;
  const startTicks = Number(fields[19]);
  return { pid, ppid: Number(ppid), group: Number(group), startTicks, isStopped: state === "T" };
}

/** Whether the host's kernel lists the children of a process; if not, all processes must be read. */
export const hasChildren = existsSync(`/proc/self/task/${process.pid}/children`);

/** The children of all threads of the process, including those that only wait to be reaped. */
export function childrenOf(pid: number): number[] {
  const threads = listOrEmpty(`/proc/${pid}/task`);
  return threads.flatMap((thread) => numbersIn(readOrEmpty(`/proc/${pid}/task/${thread}/children`)));
}

/** All descendants, parents first. */
export function descendantsOf(pid: number): number[] {
  const found = childrenOf(pid);
  for (let at = 0; at < found.length; at++) found.push(...childrenOf(found[at] as number));
  return found;
}

/** The child of `parent` that has this pid to its parent; undefined: it has ended. */
export function innerPidOf(parent: number, pid: number): number | undefined {
  // the pids that it has in the namespaces it is in, from ours on; the last is that of its own
  const inner = new RegExp(`^NSpid:.*\\t${pid}\\t\\d+$`, "m");
  return childrenOf(parent).find((child) => inner.test(readOrEmpty(`/proc/${child}/status`)));
}

/** What the process has open at that fd, as `socket:[7]` or a path; undefined: nothing, or it may not be looked at. */
export function linkOf(pid: number, fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return undefined;
  }
}

/** Whether the process has the file open; also true if it may not be looked at, or this host does not say. */
export function hasOpen(pid: number, link: string): boolean {
  if (!hasProcfs || linkOf(pid, "0") === link) return true;
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(pid, fd) === link);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES";
  }
}

/** Whether a descendant has the file open; undefined: there are none. */
export function isOpenBelow(pid: number, link: string): boolean | undefined {
  const children = childrenOf(pid);
  if (children.length === 0) return undefined;
  return children.some((child) => hasOpen(child, link) || isOpenBelow(child, link) === true);
}

/** Clock ticks of Linux in a second, as /proc counts them on every architecture. */
const TICKS = 100;

/** What a process and all below it use; undefined: it is gone, or this host does not say. */
export function usageOf(pid: number): NativeUsage | undefined {
  if (!hasProcfs || !hasChildren) return undefined;
  const below = descendantsOf(pid);
  let [ticks, rssBytes, isThere] = [0, 0, false];
  for (const each of [pid, ...below]) {
    const stat = readOrEmpty(`/proc/${each}/stat`);
    if (stat === "") continue;
    isThere = true;
    // utime, stime and those of the children that it has waited for
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    for (const at of [11, 12, 13, 14]) ticks += Number(fields[at]);
    rssBytes += privateBytes(each);
  }
  return isThere ? { cpuMs: (ticks * 1000) / TICKS, rssBytes, children: below.length } : undefined;
}

/** Resident pages. */
function privateBytes(pid: number): number {
  const [, kib = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/status`)) ?? [];
  return Number(kib) * 1024;
}

/** The environment that a process was started with, as `\0NAME=value\0…\0`; empty if it may not be read. */
export function readEnviron(pid: number): string {
  return `\0${readOrEmpty(`/proc/${pid}/environ`)}\0`;
}

/** The most recently assigned pid; 0 if unknown. */
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

/**
 * Returns false if the process has ended. A negative pid is a group. Never sends to 0 (the sender's own group) or -1
 * (all processes).
 */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  if (pid === 0 || pid === -1) return false;
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
