import type { JournalClock } from "./group.ts";

export const systemClock: JournalClock = { now: () => Date.now(), mono: () => performance.now() };
