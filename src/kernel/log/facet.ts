/** The newest log lines of a process, as the seqs of their records. */

import type { Facet } from "../facts/facet.ts";
import { LIMITS } from "../limits.ts";

export const logFacet: Facet<number[]> = {
  init: () => [],
  folds: {
    "process.log": (now, _body, { seq }) => {
      now.push(seq);
      if (now.length > LIMITS.logEntries) now.shift();
      return now;
    },
  },
  pack: (now) => ({ log: [...now] }),
  unpack: ({ log }) => [...((log ?? []) as readonly number[])],
};
