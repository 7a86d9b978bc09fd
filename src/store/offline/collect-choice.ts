/** Chooses the histories that retention removes: pure rules over the process rows. */

/** An ended process that the user did not mark to keep. */
export interface EndedHistory {
  readonly proc: string;
  readonly pid: number;
  readonly lastSeq: number;
  readonly lastHash: Uint8Array;
  readonly lastLsn: number;
  /** Wall clock, ms. */
  readonly lastAt: number;
}

export interface Fork {
  readonly proc: string;
  readonly from: string;
}

const DAY_MS = 24 * 3600 * 1000;

/** The processes idle for longer than `days`; 0: none. They stay in the given order, oldest first. */
export function tooOld(ended: readonly EndedHistory[], days: number, now: number): readonly EndedHistory[] {
  return days === 0 ? [] : ended.filter(({ lastAt }) => now - lastAt > days * DAY_MS);
}

/**
 * The histories of `going` that can be removed: a history stays as long as a fork of it stays. Forks come before the
 * histories that they are based on.
 */
export function withoutPrefixes(
  going: readonly EndedHistory[],
  forks: readonly Fork[],
): readonly EndedHistory[] {
  const gone = new Set(going.map(({ proc }) => proc));
  for (let changed = true; changed; ) {
    changed = false;
    for (const { proc, from } of forks) if (!gone.has(proc) && gone.delete(from)) changed = true;
  }
  return forksFirst(
    going.filter(({ proc }) => gone.has(proc)),
    forks,
  );
}

function forksFirst(going: readonly EndedHistory[], forks: readonly Fork[]): readonly EndedHistory[] {
  const byProc = new Map(going.map((each) => [each.proc, each]));
  const forksOf = new Map<string, string[]>();
  for (const { proc, from } of forks) forksOf.set(from, [...(forksOf.get(from) ?? []), proc]);
  const ordered: EndedHistory[] = [];
  const put = (proc: string): void => {
    const each = byProc.get(proc);
    if (each === undefined || !byProc.delete(proc)) return;
    for (const fork of forksOf.get(proc) ?? []) put(fork);
    ordered.push(each);
  };
  for (const { proc } of going) put(proc);
  return ordered;
}
