/**
 * When a daemon keeps what V8 has compiled for it. To write the largest file holds the event loop for 50 ms, so it is done while
 * nothing else is, and each file has a round of its own.
 */
import { performance } from "node:perf_hooks";
import { underUsualFlags } from "../lib/v8-flags.ts";

/** By then a daemon has done what it was started for, and V8 still has what it has compiled for that; later it forgets what did not run. */
const KEPT_AFTER_MS = 20_000;
/** A daemon that works without a break keeps it then; by that time V8 has forgotten most of what only a start runs. */
const KEPT_AT_LAST_MS = 600_000;
const LOOK_MS = 1_000;
/** Between two files: time for all that waits. */
const BETWEEN_MS = 100;
/** Less of the loop's time was used in the last second. */
const QUIET = 0.05;

/** Whether the event loop had little to do since this was last asked. */
function ownQuiet(): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization < QUIET;
  };
}

/** `files`: each step keeps one. Returns what keeps the rest at once, for a daemon that ends. */
export function keepInRounds(files: Iterator<unknown>, isQuiet = ownQuiet()): () => void {
  const keepOne = (): boolean => underUsualFlags(() => files.next().done !== true);
  const later = (ms: number, act: () => void): void => {
    setTimeout(act, ms).unref();
  };
  const keep = (): void => {
    if (keepOne()) later(BETWEEN_MS, keep);
  };
  const look = (leftMs: number): void => {
    if (isQuiet() || leftMs <= 0) keep();
    else later(LOOK_MS, () => look(leftMs - LOOK_MS));
  };
  later(KEPT_AFTER_MS - LOOK_MS, () => {
    isQuiet();
    later(LOOK_MS, () => look(KEPT_AT_LAST_MS - KEPT_AFTER_MS));
  });
  return () => {
    while (keepOne());
  };
}
