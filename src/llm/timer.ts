import type { Clock } from "../abi/program.ts";

/** Never visible. Made once, because making the default reason of an abort takes longer than the rest of a timer. */
const CANCELLED = new Error("the timer was cancelled");

/** Calls `fire` once after `ms`; the returned function cancels. `fire` must not throw. */
export function startTimer(clock: Clock, ms: number, fire: () => void): () => void {
  const cancelled = new AbortController();
  clock.sleep(ms, cancelled.signal).then(fire, () => {});
  return () => cancelled.abort(CANCELLED);
}
