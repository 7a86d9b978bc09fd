/** How long a restart waits. Pure: the random number is passed in. */
import type { Backoff } from "../abi/supervise.ts";

/** Before restart `n` in a row, from 0: min(maxMs, initialMs × factor^n) ± jitter. `random` 0 … 1. */
export function backoffMs({ initialMs, factor, maxMs, jitter }: Backoff, n: number, random: number): number {
  // 0 × a power that has grown past all numbers is none
  if (initialMs === 0) return 0;
  const base = Math.min(maxMs, initialMs * factor ** n);
  return Math.round(base * (1 + jitter * (2 * random - 1)));
}

/** A run that was long enough ends the row. */
export function rowAfter(n: number, ranMs: number, windowMs: number): number {
  return ranMs >= windowMs ? 0 : n;
}
