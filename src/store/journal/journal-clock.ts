import type { Clock } from "../../abi/program.ts";

/** Wall clock and monotonic clock, both ms, for people; `sleep` is for retries and for commits that take long. */
export type JournalClock = Clock;
