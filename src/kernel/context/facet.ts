/**
 * The main context of a process, as places of records: their text is read when needed. Contexts that the program
 * allocated itself are not restored; the program must allocate them again.
 */
import type { Facet, Place } from "../facts/facet.ts";
import { packRefs, type RecordRange, type Ref, unpackRefs } from "../facts/refs.ts";

interface ContextPlaces {
  /** null: none. */
  systemPrompt: Ref | null;
  readonly messages: Ref[];
  /** The number of replies of the model. */
  steps: number;
  /** How often a message was replaced. */
  epoch: number;
}

export const contextFacet: Facet<ContextPlaces> = {
  init: () => ({ systemPrompt: null, messages: [], steps: 0, epoch: 0 }),
  folds: {
    // a fork does not add its intent: the message is already in the context of its origin
    "process.spawned": (now, { intent }, place) => {
      if (!place.isFork && intent !== "") now.messages.push(refOf(place));
      return now;
    },
    // a message is replaced by its number, from 1
    "ctx.record": (now, { system_prompt, cid, replaces, role }, place) => {
      if (cid !== undefined) return now;
      const ref = refOf(place);
      if (system_prompt !== undefined) now.systemPrompt = ref;
      else if (replaces !== undefined) {
        now.messages[Number(replaces) - 1] = ref;
        now.epoch++;
      } else {
        now.messages.push(ref);
        if (role === "assistant") now.steps++;
      }
      return now;
    },
  },
  pack: ({ systemPrompt, messages, steps, epoch }) => ({
    systemPrompt,
    messages: packRefs(messages),
    steps,
    ...(epoch === 0 ? {} : { epoch }),
  }),
  unpack: ({ systemPrompt, messages, steps, epoch = 0 }) => ({
    systemPrompt: (systemPrompt ?? null) as Ref | null,
    messages: unpackRefs((messages ?? []) as readonly RecordRange[]),
    steps: Number(steps ?? 0),
    epoch: Number(epoch),
  }),
  fork: (origin) => ({ ...origin, messages: [...origin.messages] }),
};

function refOf({ proc, seq }: Place): Ref {
  return { proc, seq };
}
