/** What a process has of others: mail that it has not received, groups, a signal that ends it. */
import { SIGNALS, type Signal } from "../../abi/process.ts";
import { type Facet, plainFacet } from "../facts/facet.ts";
import type { GroupRecord } from "./groups.ts";

/** The seq of each message that was sent and not received, by its number. */
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

/** By their number. */
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

/** By default. */
const ENDS: ReadonlySet<unknown> = new Set([SIGNALS.SIGTERM, SIGNALS.SIGKILL, SIGNALS.SIGINT]);

/** It was told to end, and has not yet; null: it was not. */
export const endedByFacet: Facet<Signal | null> = plainFacet("endedBy", {
  init: null as Signal | null,
  folds: {
    signal: (now, { signal, disposition }) =>
      disposition === "default" && ENDS.has(signal) ? (signal as Signal) : now,
    "process.exited": () => null,
  },
});
