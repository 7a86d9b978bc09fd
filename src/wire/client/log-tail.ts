/** The daemon's last log lines, for the user whose command could not reach it. */
import { accessSync, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** If the state directory is not writable, the daemon logs beside its socket. */
export function logPath(stateDir: string, runtimeDir: string): string {
  return join(isWritable(stateDir) ? stateDir : runtimeDir, "daemon.log");
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The last lines of daemon.log, for the user. */
export function lastLogLines(path: string, count: number): string[] {
  try {
    const fd = openSync(path, "r");
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
