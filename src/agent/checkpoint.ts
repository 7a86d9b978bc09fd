/**
 * Where the loop is, and how it goes on from there in another daemon. A reply with calls is told whole when it is there, then
 * the result of each call: a call that has its result is not repeated, and the reply is not asked for again.
 */
import { Fault } from "../abi/errors.ts";
import { INTERRUPTED_NOTE } from "../abi/events.ts";
import type { Pid } from "../abi/ids.ts";
import type { Reply } from "../abi/llm.ts";
import type { Probed, Restored } from "../abi/program.ts";
import type { ContextMessage } from "../abi/sys.ts";
import { callsOf, type ToolCall } from "./decide.ts";
import { targetOf } from "./deferred/target.ts";
import type { Refusals } from "./refusals.ts";
import type { CallResult } from "./tools/tool-call.ts";

/** A reply that is not in the context yet, with what its request allowed. */
export interface KeptReply {
  readonly reply: Reply;
  readonly maxOutputTokens: number;
  readonly escalatedOutputTokens: number;
  /** How many of its calls run together, in order. */
  readonly batches: readonly number[];
}

/** The message of a session whose run is under way. Told before the message enters the context. */
export interface RunPlace {
  /** 0: the intent. */
  readonly seq: number;
  readonly from: Pid;
  readonly client: string;
}

export interface LoopPosition {
  /** Of this form. Version 1 knew no runs. */
  readonly v: 2;
  /** Of a session; null: it waits for a message. */
  readonly run: RunPlace | null;
  /** Steps of the run that were begun and whose reply was there. */
  readonly turn: number;
  /** Requests that were answered. */
  readonly requests: number;
  readonly hasEscalated: boolean;
  readonly hasRetriedEmpty: boolean;
  /** Absent: the last reply with calls brought one that was not refused. */
  readonly refusals?: Refusals;
  readonly kept: KeptReply | null;
}

/** Told when a call is over; `call` is its index in the reply. */
interface FinishedCall extends CallResult {
  readonly call: number;
}

const START: LoopPosition = {
  v: 2,
  run: null,
  turn: 0,
  requests: 0,
  hasEscalated: false,
  hasRetriedEmpty: false,
  kept: null,
};

const UNKNOWN = "outcome unknown: the daemon stopped while it ran; check before repeating";
/** Of the input, in what the model reads of a call whose outcome is unknown. */
const SHOWN_CHARS = 120;

const PROBED: Readonly<Record<Probed["outcome"], CallResult>> = {
  done: { content: "the daemon stopped while it ran; the file was written as asked", isError: false },
  not_done: {
    content: "the daemon stopped before anything was written; send the call again if it is still wanted",
    isError: true,
  },
};

/** With the first words of the call: the model may have made several. */
export function unknownResult({ name, input }: ToolCall): CallResult {
  const words = `${name.slice(0, 64)} ${JSON.stringify(input) ?? ""}`.trimEnd();
  const shown = words.length > SHOWN_CHARS ? `${words.slice(0, SHOWN_CHARS).toWellFormed()}…` : words;
  return { content: `${UNKNOWN}: ${shown}`, isError: true };
}

/** INTERNAL: told by a version that is not known here. */
export function placeOf(restored: Restored | null): LoopPosition {
  const place = (restored?.state ?? START) as
    | LoopPosition
    | (Omit<LoopPosition, "v" | "run"> & { readonly v: 1 });
  if (place.v === 2) return place;
  if (place.v === 1) return { ...place, v: 2, run: null };
  const { v } = place as { v: unknown };
  const message = `its place was recorded by another version of crux: ${String(v)}`;
  throw new Fault({ code: "INTERNAL", message });
}

/**
 * The results that need not be made again, by the index of the call. Calls of the batch that was under way are unknown if an
 * effect began in it, of which of them it was, nobody tells; but a call that is known by its input may have been looked for.
 */
export function finishedCalls(
  { since }: Restored,
  sizes: readonly number[],
  calls: readonly ToolCall[],
): ReadonlyMap<number, CallResult> {
  const batches = indexesOf(sizes);
  const results = new Map<number, CallResult>();
  const isWhole = (batch: readonly number[] = []) => batch.every((call) => results.has(call));
  let hasActed = false;
  let probes: Probed[] = [];
  for (const event of since) {
    if (event.kind === "probed") probes.push(event.probed);
    if (event.kind === "effect") hasActed = true;
    if (event.kind !== "part") continue;
    const { call, ...result } = event.part as FinishedCall;
    results.set(call, result);
    if (isWhole(batches.find((batch) => batch.includes(call)))) {
      hasActed = false;
      probes = [];
    }
  }
  const underWay = hasActed ? batches.find((batch) => !isWhole(batch)) : undefined;
  for (const index of underWay ?? []) {
    const call = calls[index];
    if (call !== undefined && !results.has(index)) results.set(index, resultOf(call, probes));
  }
  return results;
}

/** Calls of threads are in the same history: the tool and its input tell them apart. */
function resultOf(call: ToolCall, probes: readonly Probed[]): CallResult {
  const { name, input } = targetOf(call);
  const text = JSON.stringify(input) ?? "";
  const probed = probes.findLast(
    (each) => each.tool === name && each.input !== "" && text.startsWith(each.input),
  );
  return probed === undefined ? unknownResult(call) : PROBED[probed.outcome];
}

/**
 * The daemon may have died while a step was being written to the context: the calls of the reply that are answered there;
 * null: the reply itself is not there.
 */
export function answeredIn(
  messages: readonly ContextMessage[],
  { blocks }: Reply,
): ReadonlySet<string> | null {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const isSame = JSON.stringify(messages[at]?.blocks) === JSON.stringify(blocks);
  // the same words may have been said before; a call has an id of its own
  if (!isSame || (callsOf(blocks).length === 0 && at < messages.length - 1)) return null;
  return new Set(messages.slice(at + 1).flatMap(({ tool_call_id }) => tool_call_id ?? []));
}

/** Nothing is left to do: the last word is the model's, or that the user ended the run. */
export function isAtItsEnd(messages: readonly ContextMessage[]): boolean {
  const last = messages.at(-1);
  if (last?.role === "user") return last.content === INTERRUPTED_NOTE;
  return last?.role === "assistant" && callsOf(last.blocks ?? []).length === 0;
}

function indexesOf(sizes: readonly number[]): readonly (readonly number[])[] {
  let next = 0;
  return sizes.map((size) => Array.from({ length: size }, () => next++));
}
