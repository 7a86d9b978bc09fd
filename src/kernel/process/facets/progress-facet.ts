/** The progress of a process's program: its last checkpoint and what followed it. */
import type { Probed } from "../../../abi/program.ts";
import type { Facet } from "../../facts/facet.ts";
import { isLoading, isModelCall, isProbed } from "../../facts/intents.ts";
import type { Ref } from "../../facts/refs.ts";

/**
 * A part added to the checkpoint, an effect that began, or the outcome of an effect as found by a later daemon
 * (`intent`: the effect's record). Consecutive effects count as one.
 */
type Since = { readonly part: Ref } | { readonly probed: Probed["outcome"]; readonly intent: Ref } | "effect";

interface Progress {
  /** The last checkpoint; null: none yet. */
  place: Ref | null;
  since: Since[];
}

export const progressFacet: Facet<Progress> = {
  init: () => ({ place: null, since: [] }),
  folds: {
    "process.checkpoint": (now, body, { proc, seq }) => {
      if (!("part" in body)) return { place: { proc, seq }, since: [] };
      now.since.push({ part: { proc, seq } });
      return now;
    },
    "call.intent": (now, body) => {
      const isEffect = !isModelCall(body) && !isLoading(body);
      if (isEffect && now.since.at(-1) !== "effect") now.since.push("effect");
      return now;
    },
    "call.result": (now, body, { proc }) => {
      if (isProbed(body)) now.since.push({ probed: body.probed, intent: { proc, seq: body.intent } });
      return now;
    },
  },
  pack: ({ place, since }) => ({ place, since: [...since] }),
  unpack: ({ place, since }) => ({
    place: (place ?? null) as Ref | null,
    since: [...((since ?? []) as readonly Since[])],
  }),
  fork: ({ place, since }) => ({ place, since: [...since] }),
};
