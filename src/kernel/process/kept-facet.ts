/** Named values that devices keep for a process, as the places of their records. */

import type { Facet } from "../facts/facet.ts";
import type { Ref } from "../facts/refs.ts";

/** In the order in which their names came to be. */
export const keptFacet: Facet<Map<string, Ref>> = {
  init: () => new Map(),
  folds: {
    "process.kept": (now, { name, value }, { proc, seq }) => {
      if (value === null) now.delete(String(name));
      else now.set(String(name), { proc, seq });
      return now;
    },
  },
  pack: (now) => (now.size === 0 ? {} : { kept: [...now] }),
  unpack: ({ kept }) => new Map((kept ?? []) as [string, Ref][]),
  fork: (origin) => new Map(origin),
};
