import type { Clock } from "../../abi/program.ts";

/**
 * Wall clock and monotonic clock, both in ms, as shown to the user; `sleep` is for retries and the watch on commits.
 */
export type JournalClock = Clock;
