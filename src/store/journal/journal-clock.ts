import type { Clock } from "../../abi/program.ts";

/**
 * Wall clock and monotonic clock, both in ms, for the times shown to the user; `sleep` is for retries and for the watch
 * on slow commits.
 */
export type JournalClock = Clock;
