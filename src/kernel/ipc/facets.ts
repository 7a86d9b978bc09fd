/** Facets from interprocess communication: mail not yet received, groups, a signal that ends the process. */
import type { Signal } from "../../abi/process.ts";
import { type Facet, plainFacet } from "../facts/facet.ts";
import { ENDING } from "./disposition.ts";
import type { GroupRecord } from "./groups.ts";

/** Messages sent but not received: from the message's number to the seq of its record. */
export const mailFacet: Facet<Map<number, number>> = {
  init: () => new Map(),
  folds: {
    "mail.put": (now, body, { seq }) => now.set(Number(body.seq), seq),
    "mail.done": (now, { seq }) => {
      now.delete(Number(seq));
      return now;
    },
  },
  pack: (now) => ({ mail: [...now] }),
  unpack: ({ mail }) => new Map((mail ?? []) as [number, number][]),
};

/** The groups of the process, by their number. */
export const groupsFacet: Facet<Map<number, GroupRecord>> = {
  init: () => new Map(),
  folds: {
    "group.join": (now, body) => now.set(Number(body.group), body as unknown as GroupRecord),
    "group.leave": (now, { group }) => {
      now.delete(Number(group));
      return now;
    },
  },
  pack: (now) => ({ groups: [...now.values()] }),
  unpack: ({ groups }) =>
    new Map(((groups ?? []) as readonly GroupRecord[]).map((group) => [group.group, group])),
};

/** The signal that demanded the end of a process that has not ended yet; null: none. */
export const endedByFacet: Facet<Signal | null> = plainFacet("endedBy", {
  init: null as Signal | null,
  folds: {
    signal: (now, { signal, disposition }) =>
      disposition === "default" && ENDING.has(signal) ? (signal as Signal) : now,
    "process.exited": () => null,
  },
});
