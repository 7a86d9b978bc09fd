/** The holder of the daemon's lock, as far as a client can see it without opening the lock. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { journalDir, pidFile } from "../../lib/paths.ts";

/** The OS pid of the living process named by owner.json; undefined: no such process. */
export function findOwner(stateDir: string): number | undefined {
  const owner = readOwner(join(journalDir(stateDir), "owner.json"));
  return owner !== undefined && isAlive(owner.pid, owner.startTime) ? owner.pid : undefined;
}

/**
 * A daemon is just starting or shutting down: another one would only find the lock held. False if the start time of a
 * process cannot be read, so that a reused pid could not be detected.
 */
export function isLockHeld(stateDir: string): boolean {
  const owner = readOwner(join(journalDir(stateDir), "owner.json"));
  if (owner === undefined || owner.startTime === null) return false;
  const found = statOf(owner.pid);
  return found !== undefined && !found.ended && found.startTime === owner.startTime;
}

/** The pid in crux.pid, if it is alive and holds the lock. */
export function findDaemonPid(socketPath: string, stateDir: string): number | undefined {
  const owner = findOwner(stateDir);
  return owner !== undefined && Number(readText(pidFile(socketPath))) === owner ? owner : undefined;
}

/** CPU time of a process so far, in clock ticks of 10 ms; undefined: the process has ended, or there is no /proc. */
export function cpuTicks(pid: number): number | undefined {
  return statOf(pid)?.ticks;
}

function readOwner(path: string): { pid: number; startTime: number | null } | undefined {
  try {
    const owner: unknown = JSON.parse(readText(path));
    if (typeof owner !== "object" || owner === null) return undefined;
    const { pid, startTime } = owner as { pid?: unknown; startTime?: unknown };
    if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
    return { pid, startTime: typeof startTime === "number" ? startTime : null };
  } catch {
    return undefined;
  }
}

/** A reused pid has another start time; a zombie no longer holds the lock. */
function isAlive(pid: number, startTime: number | null): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const found = statOf(pid);
  if (found === undefined) return true;
  return !found.ended && (startTime === null || found.startTime === startTime);
}

/** Parses /proc/<pid>/stat after the name, which may contain blanks. undefined: no /proc. */
function statOf(pid: number): { ended: boolean; startTime: number; ticks: number } | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === "") return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    ended: fields[0] === "Z" || fields[0] === "X",
    startTime: Number(fields[19]),
    ticks: Number(fields[11]) + Number(fields[12]),
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
