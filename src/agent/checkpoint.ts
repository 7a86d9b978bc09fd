/**
 * The position of the loop, and how it resumes from there in another daemon. A reply with calls is recorded whole when
 * it arrives, then the result of each call: a finished call is not repeated, and the reply is not requested again.
 */
import { Fault } from "../abi/errors.ts";
import { INTERRUPTED_NOTE } from "../abi/events.ts";
import type { Block, LlmErrorKind, Reply } from "../abi/llm.ts";
import type { ToolCall } from "../abi/loop.ts";
import type { Probed, Restored, RunInput } from "../abi/program.ts";
import type { ContextMessage } from "../abi/sys.ts";
import type { KeeperState } from "./context/keeper.ts";
import { targetOf } from "./deferred/target.ts";
import { callsOf } from "./model/blocks.ts";
import type { CallResult } from "./program/tool-call.ts";
import { NO_REFUSALS, type Refusals } from "./refusals.ts";
import { freshState, type LoopState, piecesOf } from "./state.ts";
import type { TokenTarget } from "./token-target.ts";

/** A reply that is not in the context yet, with the output limits of its request. */
export interface KeptReply {
  readonly reply: Reply;
  readonly maxOutputTokens: number;
  readonly escalatedOutputTokens: number;
  /** The sizes of the batches of calls that may overlap, in order. */
  readonly batches: readonly number[];
  /** Its calls began before its end: the rest of it follows as parts. */
  readonly isOpen?: true;
  /** Its rest did not come. */
  readonly broken?: Broken;
}

/** Why a reply has no end. */
export interface Broken {
  readonly kind: LlmErrorKind;
  readonly words: string;
}

/** Added to the checkpoint of an open reply: its next block, which may overlap with the call before it; its end. */
export type ReplyPart =
  | { readonly block: Block; readonly joins?: true }
  | { readonly whole: Omit<Reply, "blocks"> };

/** The message of a session whose run is in progress. Recorded before the message enters the context. */
export type RunPlace = Omit<RunInput, "text">;

interface LoopPosition {
  /** The version of this format. Version 1 had no `run`. */
  readonly v: 2;
  /** The current run of a session; null: it waits for a message, or is not a session. */
  readonly run: RunPlace | null;
  /** Steps of the run that were begun and received a reply. */
  readonly turn: number;
  /** Requests that were answered. */
  readonly requests: number;
  readonly hasEscalated: boolean;
  readonly hasRetriedEmpty: boolean;
  /** Pieces of the reply in progress that are in the context. Absent: none. */
  readonly recoveries?: number;
  readonly pauses?: number;
  /** Replies in a row that broke off after a call had begun. Absent: none. */
  readonly salvages?: number;
  /** The model that answers, if it is a fallback: its place among them, from 1. */
  readonly model?: number;
  /** How often the user had chosen another model; `window` and `model` are of that one. Absent: never. */
  readonly chosen?: number;
  /** Absent: the last reply with calls had at least one that was not refused. */
  readonly refusals?: Refusals;
  /** Absent: the message of the run sets none. */
  readonly target?: TokenTarget;
  /** It has started agents in the background. */
  readonly hasAgents?: true;
  /** A member of a team: its lead knows that it has nothing to do. */
  readonly isIdle?: true;
  /** A member of a team: it has agreed to end. */
  readonly isLeaving?: true;
  /** The user has turned memory off. */
  readonly isMemoryOff?: true;
  /** What refusals taught, and the state of compaction. Absent: nothing. */
  readonly window?: KeeperState;
  /** The messages of which notes were taken. Absent: none. */
  readonly noted?: number;
  /** A session that is counted among those since the notes were tidied. */
  readonly isCounted?: true;
  readonly kept: KeptReply | null;
}

/** Added to the checkpoint when a call has finished; `call` is its index in the reply. */
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
/** The characters of the call shown to the model when its outcome is unknown. */
const SHOWN_CHARS = 120;

const PROBED: Readonly<Record<Probed["outcome"], CallResult>> = {
  done: { content: "the daemon stopped while it ran; the file was written as asked", isError: false },
  not_done: {
    content: "the daemon stopped before anything was written; send the call again if it is still wanted",
    isError: true,
  },
};

/** Includes the start of the call: the model may have made several. */
export function unknownResult({ name, input }: ToolCall): CallResult {
  const words = `${name.slice(0, 64)} ${JSON.stringify(input) ?? ""}`.trimEnd();
  const shown = words.length > SHOWN_CHARS ? `${words.slice(0, SHOWN_CHARS).toWellFormed()}…` : words;
  return { content: `${UNKNOWN}: ${shown}`, isError: true };
}

interface Beside {
  readonly run: RunPlace | null;
  readonly window: KeeperState | undefined;
  readonly chosen?: number | undefined;
  readonly noted?: number;
  readonly isCounted?: boolean;
  readonly hasAgents?: boolean;
  readonly isIdle?: boolean;
  readonly isLeaving?: boolean;
  readonly isMemoryOff?: boolean;
}

/** What of the state is recorded; what has its usual value is left out. */
export function positionOf(
  state: LoopState,
  { run, window, chosen = 0, noted = 0, ...flags }: Beside,
  kept: KeptReply | null,
): LoopPosition {
  const { turn, requests, hasEscalated, hasRetriedEmpty, recoveries, pauses, salvages, model } = state;
  const { refusals, target } = state;
  const isResumed = kept === null && piecesOf(state) > 0;
  return {
    v: 2,
    run,
    // the step of a reply that is not whole is begun again
    turn: isResumed ? turn - 1 : turn,
    requests,
    hasEscalated,
    hasRetriedEmpty,
    ...(recoveries === 0 ? {} : { recoveries }),
    ...(pauses === 0 ? {} : { pauses }),
    ...(salvages === 0 ? {} : { salvages }),
    ...(model === 0 ? {} : { model }),
    ...(chosen === 0 ? {} : { chosen }),
    ...(refusals.replies === 0 ? {} : { refusals }),
    ...(target === null ? {} : { target }),
    ...(window === undefined ? {} : { window }),
    ...(noted === 0 ? {} : { noted }),
    ...(flags.isCounted === true ? { isCounted: true } : {}),
    ...(flags.hasAgents === true ? { hasAgents: true } : {}),
    ...(flags.isIdle === true ? { isIdle: true } : {}),
    ...(flags.isLeaving === true ? { isLeaving: true } : {}),
    ...(flags.isMemoryOff === true ? { isMemoryOff: true } : {}),
    kept,
  };
}

export function stateOf(position: LoopPosition): LoopState {
  const { turn, requests, hasEscalated, hasRetriedEmpty } = position;
  const { recoveries = 0, pauses = 0, salvages = 0, model = 0, refusals = NO_REFUSALS, target } = position;
  const counted = { turn, hasEscalated, hasRetriedEmpty, recoveries, pauses, salvages, model, refusals };
  return { ...freshState(requests, target), ...counted };
}

/** INTERNAL: recorded by an unknown version. */
export function placeOf(restored: Restored | null): LoopPosition {
  const place = (restored?.state ?? START) as
    | LoopPosition
    | (Omit<LoopPosition, "v" | "run"> & { readonly v: 1 });
  if (place.v === 2) return { ...place, kept: place.kept && closed(place.kept, restored?.since ?? []) };
  if (place.v === 1) return { ...place, v: 2, run: null };
  const { v } = place as { v: unknown };
  const message = `its place was recorded by another version of crux: ${String(v)}`;
  throw new Fault({ code: "INTERNAL", message });
}

/** A reply whose calls began before its end, with all that was recorded of it. */
function closed({ isOpen, ...kept }: KeptReply, since: Restored["since"]): KeptReply {
  if (isOpen !== true) return kept;
  const blocks = [...kept.reply.blocks];
  const batches = [...kept.batches];
  for (const event of since) {
    if (event.kind !== "part") continue;
    const part = event.part as ReplyPart | FinishedCall;
    if ("whole" in part) return { ...kept, reply: { ...part.whole, blocks }, batches };
    if (!("block" in part)) continue;
    blocks.push(part.block);
    if (part.joins === true) batches.push((batches.pop() ?? 0) + 1);
    else if (part.block.type === "tool_use") batches.push(1);
  }
  const broken = { kind: "connection", words: "the daemon stopped while the reply came" } as const;
  return { ...kept, reply: { ...kept.reply, blocks }, batches, broken };
}

/**
 * The results of calls that must not be made again, by the index of the call. If an effect began in the batch in
 * progress, it is not recorded which call it belongs to: its calls without a result get an unknown outcome, unless a
 * probe, matched by the tool and its input, found out.
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
    const part = event.part as ReplyPart | FinishedCall;
    if (!("call" in part)) continue;
    const { call, ...result } = part;
    results.set(call, result);
    if (isWhole(batches.find((batch) => batch.includes(call)))) {
      hasActed = false;
      probes = [];
    }
  }
  const underWay = hasActed ? batches.find((batch) => !isWhole(batch)) : undefined;
  for (const index of underWay ?? []) {
    const call = calls[index];
    if (call !== undefined && !results.has(index) && !isResumable(call))
      results.set(index, resultOf(call, probes));
  }
  return results;
}

/** A child agent outlives the daemon: the same call, made again, waits for the same child. */
function isResumable(call: ToolCall): boolean {
  return targetOf(call).name === "agent";
}

/** Probes of calls made by threads are in the same history: matched by the tool and its input. */
function resultOf(call: ToolCall, probes: readonly Probed[]): CallResult {
  const { name, input } = targetOf(call);
  const text = JSON.stringify(input) ?? "";
  const probed = probes.findLast(
    (each) => each.tool === name && each.input !== "" && text.startsWith(each.input),
  );
  return probed === undefined ? unknownResult(call) : PROBED[probed.outcome];
}

/**
 * The daemon may have died while it wrote a step to the context. Returns the calls of the reply that already have a
 * result there; null: the reply itself is not there.
 */
export function answeredIn(
  messages: readonly ContextMessage[],
  { blocks }: Reply,
): ReadonlySet<string> | null {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const isSame = JSON.stringify(messages[at]?.blocks) === JSON.stringify(blocks);
  // a reply with the same text may have come before; calls differ by their ids
  if (!isSame || (callsOf(blocks).length === 0 && at < messages.length - 1)) return null;
  return new Set(messages.slice(at + 1).flatMap(({ tool_call_id }) => tool_call_id ?? []));
}

/** Whether nothing is left to do: the last message is a reply without calls, or the note that the user interrupted. */
export function isAtItsEnd(messages: readonly ContextMessage[]): boolean {
  const last = messages.at(-1);
  if (last?.role === "user") return last.content === INTERRUPTED_NOTE;
  return last?.role === "assistant" && callsOf(last.blocks ?? []).length === 0;
}

function indexesOf(sizes: readonly number[]): readonly (readonly number[])[] {
  let next = 0;
  return sizes.map((size) => Array.from({ length: size }, () => next++));
}
