/** The open questions of a process, and the denials counted for its session. */
import { type Facet, plainFacet } from "../facts/facet.ts";
import type { DenialState } from "./denials.ts";

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
    "process.exited": () => new Map(),
  },
  pack: (now) => (now.size === 0 ? {} : { asks: [...now] }),
  unpack: ({ asks }) => new Map((asks ?? []) as [string, string][]),
};

/** The denials of the session that the process began; null: none. */
export const denialsFacet: Facet<DenialState | null> = plainFacet("denials", {
  init: null as DenialState | null,
  folds: { "permit.denials": (_now, body) => body as unknown as DenialState },
});
