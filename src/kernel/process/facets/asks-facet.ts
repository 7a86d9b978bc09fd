/** The open questions of a process. */
import type { Facet } from "../../facts/facet.ts";

/** Digests of unanswered questions, by id. */
export const asksFacet: Facet<Map<string, string>> = {
  init: () => new Map(),
  folds: {
    "permit.ask": (now, { requestId, digest }) =>
      typeof requestId === "string" && typeof digest === "string" ? now.set(requestId, digest) : now,
    "permit.answer": (now, { requestId }) => {
      now.delete(String(requestId));
      return now;
    },
    "person.question": (now, { id, digest }) =>
      typeof id === "string" && typeof digest === "string" ? now.set(id, digest) : now,
    "person.answer": (now, { id }) => {
      now.delete(String(id));
      return now;
    },
    "process.exited": () => new Map(),
  },
  pack: (now) => (now.size === 0 ? {} : { asks: [...now] }),
  unpack: ({ asks }) => new Map((asks ?? []) as [string, string][]),
};
