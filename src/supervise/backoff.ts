/** The delay before a restart. Pure: the random number is passed in. */
import type { Backoff } from "../abi/supervise.ts";

/**
 * The delay before restart `n` in a row, counted from 0: min(maxMs, initialMs × factor^n) ± jitter. `random`: 0 … 1.
 */
export function backoffMs({ initialMs, factor, maxMs, jitter }: Backoff, n: number, random: number): number {
  // the power may grow to Infinity, and 0 × Infinity is NaN
  if (initialMs === 0) return 0;
  const base = Math.min(maxMs, initialMs * factor ** n);
  return Math.round(base * (1 + jitter * (2 * random - 1)));
}

/** The number of restarts in a row after a run: 0 if it lasted at least `windowMs`. */
export function rowAfter(n: number, ranMs: number, windowMs: number): number {
  return ranMs >= windowMs ? 0 : n;
}
