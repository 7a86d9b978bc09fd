/**
 * When a daemon keeps what V8 has compiled for it. To write all at once would hold the event loop for a tenth of a second, so each
 * file has a round of its own.
 */
import { underUsualFlags } from "../lib/v8-flags.ts";

/** By then a daemon has done what it was started for, and V8 still has what it has compiled for that; later it forgets what did not run. */
const KEPT_AFTER_MS = 20_000;
/** Between two files: time for all that waits. */
const BETWEEN_MS = 100;

/** `files`: each step keeps one. Returns what keeps the rest at once, for a daemon that ends. */
export function keepInRounds(files: Iterator<unknown>): () => void {
  const keepOne = (): boolean => underUsualFlags(() => files.next().done !== true);
  const later = (ms: number): void => {
    setTimeout(() => {
      if (keepOne()) later(BETWEEN_MS);
    }, ms).unref();
  };
  later(KEPT_AFTER_MS);
  return () => {
    while (keepOne());
  };
}
