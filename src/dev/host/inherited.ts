/**
 * Descriptors that whoever started this process left open in it. Every child would have them too, also one in a sandbox: a
 * folder or a pipe of the host that no mount covers.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs";

/** As Linux writes the flags of a descriptor that no child gets: octal. */
const CLOSE_ON_EXEC = 0o2000000;
/** The runtime itself closes the lowest; it stops at the first gap. */
const FIRST = 3;

/**
 * Closes them; how many there were. What the runtime itself has open is closed on exec and stays. Without /proc nothing is
 * known of them: 0.
 */
export function closeInherited(): number {
  return numbersOf("/proc/self/fd").filter((fd) => fd >= FIRST && isInherited(fd) && isClosed(fd)).length;
}

function numbersOf(dir: string): readonly number[] {
  try {
    return readdirSync(dir).map(Number);
  } catch {
    return [];
  }
}

function isInherited(fd: number): boolean {
  // node's own line to a parent that forked it
  if (process.channel !== undefined) return false;
  try {
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}

function isClosed(fd: number): boolean {
  try {
    closeSync(fd);
    return true;
  } catch {
    return false;
  }
}
