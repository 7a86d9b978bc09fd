/**
 * The main context of a process, as places of records: their text is read when needed. Contexts that the program
 * allocated itself are not restored; the program must allocate them again.
 */
import type { Facet, Place } from "../facts/facet.ts";
import { packRefs, type RecordRange, type Ref, unpackRefs } from "../facts/refs.ts";
import { foldMove, foldPin, type MoveBody, noViews, type PinBody, type Views } from "./view.ts";

interface ContextPlaces {
  /** null: none. */
  systemPrompt: Ref | null;
  /** All messages, in view or not: that with number n is at n - 1. */
  readonly messages: Ref[];
  readonly views: Omit<Views, "count">;
  /** The number of replies of the model. */
  steps: number;
  /** The number of results of tools. */
  toolCalls: number;
  /** How often something left the view: a message was replaced, or the view moved. */
  epoch: number;
}

export const contextFacet: Facet<ContextPlaces> = {
  init: () => ({ systemPrompt: null, messages: [], views: noViews(), steps: 0, toolCalls: 0, epoch: 0 }),
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
        if (role === "tool") now.toolCalls++;
      }
      return now;
    },
    "ctx.move": (now, body, place) => {
      if (body.cid !== undefined) return now;
      const views = { ...now.views, count: now.messages.length };
      foldMove(views, body as unknown as MoveBody);
      if (views.count > now.messages.length) now.messages.push(refOf(place));
      const { moves } = views;
      return { ...now, views: { ...now.views, moves }, epoch: now.epoch + 1 };
    },
    "ctx.pin": (now, body) => {
      if (body.cid === undefined) foldPin({ ...now.views, count: 0 }, body as unknown as PinBody);
      return now;
    },
  },
  pack: ({ systemPrompt, messages, views: { puts, stack, pins, moves }, steps, toolCalls, epoch }) => ({
    systemPrompt,
    messages: packRefs(messages),
    steps,
    ...(toolCalls === 0 ? {} : { toolCalls }),
    ...(epoch === 0 ? {} : { epoch }),
    ...(moves === 0 && pins.size === 0 ? {} : { views: { puts, stack, pins: [...pins], moves } }),
  }),
  unpack: ({ systemPrompt, messages, steps, toolCalls = 0, epoch = 0, views }) => ({
    systemPrompt: (systemPrompt ?? null) as Ref | null,
    messages: unpackRefs((messages ?? []) as readonly RecordRange[]),
    views: copyOf((views ?? noViews()) as PackedViews),
    steps: Number(steps ?? 0),
    toolCalls: Number(toolCalls),
    epoch: Number(epoch),
  }),
  fork: (origin) => ({
    ...origin,
    toolCalls: 0,
    messages: [...origin.messages],
    views: copyOf(origin.views),
  }),
};

/** The views with the count of all messages. */
export function viewsOf({ messages, views }: Pick<ContextPlaces, "messages" | "views">): Views {
  return { ...views, count: messages.length };
}

/** Earlier versions kept no pins. */
type PackedViews = Omit<ContextPlaces["views"], "pins"> & { readonly pins?: Iterable<number> };

function copyOf({ puts, stack, pins = [], moves }: PackedViews): ContextPlaces["views"] {
  return { puts: [...puts], stack: [...stack], pins: new Set(pins), moves };
}

function refOf({ proc, seq }: Place): Ref {
  return { proc, seq };
}
