/** Which worktrees the sweep leaves alone: those in which a process works, and those to which one may come back. */
import type { Settings } from "../abi/settings/settings.ts";
import { agedBefore } from "../daemon/age-check.ts";
import type { Journal } from "../kernel/ports/journal.ts";
import { isWithin } from "../lib/path.ts";

const DAY_MS = 24 * 3600 * 1000;
const SWEEP_AFTER_DAYS = 7;

interface Workers {
  readonly kernel: { readonly table: { all(): Iterable<{ readonly cwd: string }> } };
}

/** What is in the table is looked up at each call; what rests outside of memory is read now. */
export async function workplaces(
  link: Workers,
  { journal }: { readonly journal: Pick<Journal, "newest" | "unfinished"> },
): Promise<(path: string) => boolean> {
  const told: string[] = [];
  for (const { proc, body } of await journal.unfinished()) {
    const entered = await journal.newest(proc, "worktree.enter");
    told.push(JSON.stringify([body, entered?.body]));
  }
  return (path) => {
    const named = JSON.stringify(path).slice(1, -1);
    return (
      [...link.kernel.table.all()].some(({ cwd }) => isWithin(path, cwd)) ||
      told.some((text) => text.includes(named))
    );
  };
}

/** Worktrees last used before it (wall clock, ms) are swept; 0: none. Two checks of the wall clock must agree on it. */
export function oldestUsed(checked: string, now: number, { worktree }: Pick<Settings, "worktree">): number {
  const days = worktree?.sweepAfterDays ?? SWEEP_AFTER_DAYS;
  return days === 0 ? 0 : agedBefore(checked, now, days * DAY_MS);
}
