/**
 * Removal by age depends on the wall clock, which may be wrong by years. So two checks must agree: what is too old now
 * must have been too old at a check about a day ago, by the clock at that time. A clock that jumped ahead thus removes
 * nothing, and one that went back starts anew.
 */
import { readFileSync, writeFileSync } from "node:fs";

/** The least time between two checks: a day, less some hours for a machine that is switched on earlier. */
const APART_MS = 20 * 3600 * 1000;

/**
 * Files last changed before the result (wall clock, ms) are older than `keptMs` by both checks; 0: none are. The time
 * of this check is stored in `path`. Never throws: if it cannot be stored, nothing is ever removed.
 */
export function agedBefore(path: string, now: number, keptMs: number): number {
  const checkedAt = read(path);
  if (checkedAt !== undefined && now >= checkedAt && now < checkedAt + APART_MS) return 0;
  try {
    writeFileSync(path, `${now}\n`, { mode: 0o600 });
  } catch {
    return 0;
  }
  return checkedAt === undefined || now < checkedAt ? 0 : checkedAt - keptMs;
}

function read(path: string): number | undefined {
  try {
    const at = Number(readFileSync(path, "utf8"));
    return Number.isFinite(at) && at > 0 ? at : undefined;
  } catch {
    return undefined;
  }
}
