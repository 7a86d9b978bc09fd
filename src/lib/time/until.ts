/** Wall clock and monotonic clock, ms. */
interface Clocks {
  now(): number;
  mono(): number;
}

/**
 * How long it is until `at`, a time of the wall clock, ms; 0 or less: it is over. What ends then ends no later because
 * the wall clock is set back meanwhile: once as much has passed by the monotonic clock, it is over too.
 */
export function until(at: number, clock: Clocks): () => number {
  const endMono = clock.mono() + at - clock.now();
  return () => Math.min(at - clock.now(), endMono - clock.mono());
}
