/**
 * What goes by age goes by the wall clock, and that may be wrong by years. So two checks must agree: what is old now was old
 * already at a check a day ago, by the date of that time. A clock that jumped ahead so takes nothing with it, and one that went
 * back begins anew.
 */
import { readFileSync, writeFileSync } from "node:fs";

/** Between two checks; "a day", with room for a machine that is switched on a little earlier. */
const APART_MS = 20 * 3600 * 1000;

/**
 * Last changes before the result (wall clock, ms) are older than `keptMs` by both checks; 0: nothing is. The date of this check
 * is kept in `path`. Never throws: where it cannot be kept nothing ever goes.
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
