/**
 * File descriptors that the parent of this process left open in it. Every child would inherit them, including one in
 * a sandbox: a folder or a pipe of the host that no mount covers.
 */
import { closeSync, readdirSync, readFileSync } from "node:fs";

/** The close-on-exec bit in the flags of /proc/…/fdinfo, which are octal. */
const CLOSE_ON_EXEC = 0o2000000;
/** The runtime itself closes the lowest descriptors; it stops at the first gap. */
const FIRST = 3;

/**
 * Closes the inherited descriptors and returns how many there were. The runtime's own descriptors are close-on-exec
 * and stay open. Without /proc nothing is known of them: returns 0.
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
  // Node's channel to a parent that forked this process must stay open, so nothing is closed then
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
