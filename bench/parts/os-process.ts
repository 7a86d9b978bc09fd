/** What the system says of a process, from /proc. */
import { readFileSync } from "node:fs";

/** As `getconf CLK_TCK` says on every Linux that runs Node. */
const TICK_MS = 10;

/** Milliseconds that it has computed, all its threads, without its children. */
export function cpuMs(pid: number): number {
  return ticksMs(pid, 11);
}

/** Of its children, those that have ended and that it waited for. */
export function childrenMs(pid: number): number {
  return ticksMs(pid, 13);
}

/** Two fields after another: user and system. */
function ticksMs(pid: number, first: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[first]) + Number(fields[first + 1])) * TICK_MS;
}

/** Bytes; VmHWM is the most that it has had since its start. */
export function statusBytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024;
}

/** Bytes, shared pages by their part; 0 for one that is gone. */
export function proportionalBytes(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
