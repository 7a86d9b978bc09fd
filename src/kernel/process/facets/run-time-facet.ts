/** How long a process ran, without pauses and time between daemons. Wall clock, ms: accurate enough for a deadline. */
import type { Facet } from "../../facts/facet.ts";

interface RunTime {
  readonly beforeMs: number;
  /** Wall clock since when it runs; null: paused or ended. */
  readonly since: number | null;
  /** The time of its newest record. */
  readonly until: number;
  /** Its run time when the newest daemon took it over; null: a later signal record has it, or there was one daemon. */
  readonly recoveredMs: number | null;
}

const runFrom = (now: RunTime, at: number, beforeMs = ranMs(now)): RunTime => {
  return { ...now, beforeMs, since: at, until: at };
};
const stopAt = (now: RunTime, at: number, beforeMs = ranMs(now)): RunTime => {
  return { ...now, beforeMs, since: null, until: at };
};

export const runTimeFacet: Facet<RunTime> = {
  init: () => ({ beforeMs: 0, since: null, until: 0, recoveredMs: null }),
  folds: {
    "process.spawned": (now, _body, { at }) => runFrom(now, at, 0),
    "process.recovered": (now, _body, { at }) => {
      const known = { ...now, recoveredMs: ranMs(now) };
      return now.since === null ? known : runFrom(known, at);
    },
    "process.exited": (now, _body, { at }) => stopAt(now, at),
    signal: (now, { paused, ranMs: told }, { at }) => {
      const beforeMs = typeof told === "number" ? told : ranMs(now);
      const known = { ...now, recoveredMs: null };
      return paused === true ? stopAt(known, at, beforeMs) : runFrom(known, at, beforeMs);
    },
  },
  seen: (now, { at }) => ({ ...now, until: at }),
  pack: ({ recoveredMs, ...ran }) => ({ ran, recoveredMs }),
  unpack: ({ ran, recoveredMs }) => ({
    ...(ran as Omit<RunTime, "recoveredMs">),
    recoveredMs: (recoveredMs ?? null) as number | null,
  }),
};

export function ranMs({ beforeMs, since, until }: RunTime): number {
  // a wall clock that was set back must not reduce the run time
  return beforeMs + (since === null ? 0 : Math.max(0, until - since));
}
