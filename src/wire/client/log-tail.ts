/** What the daemon wrote last, for a person whose command could not reach it. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

export function logPath(stateDir: string): string {
  return join(stateDir, "daemon.log");
}

/** The last lines of daemon.log, for a person. */
export function lastLogLines(stateDir: string, count: number): string[] {
  try {
    const fd = openSync(logPath(stateDir), "r");
    try {
      const { size } = fstatSync(fd);
      const tail = Buffer.alloc(Math.min(size, 8 * 1024));
      readSync(fd, tail, 0, tail.length, size - tail.length);
      return tail.toString("utf8").trimEnd().split("\n").slice(-count);
    } finally {
      closeSync(fd);
    }
  } catch {
    return [];
  }
}
