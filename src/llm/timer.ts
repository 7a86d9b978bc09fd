import type { Clock } from "../abi/program.ts";

/** Calls `fire` once after `ms`; the returned function cancels. `fire` must not throw. */
export function startTimer(clock: Clock, ms: number, fire: () => void): () => void {
  const cancelled = new AbortController();
  clock.sleep(ms, cancelled.signal).then(fire, () => {});
  return () => cancelled.abort();
}
