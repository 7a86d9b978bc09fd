/**
 * Views of a context. The journal keeps every message of a process; a view selects what the model sees. Messages have
 * numbers, from 1 in the order in which they were added; a number is never used again.
 */
import type { ErrorCode } from "./errno.ts";

/** Numbers a … b, both included. */
export type NumberRange = readonly [first: number, last: number];

/** A tool result that is cleared or shortened in the view; its images leave the view, too. */
export interface ClearedResult {
  readonly n: number;
  /** The characters of it that stay; absent: none. */
  readonly keep?: number;
}

/** A summary that stands where the messages were that it tells of: behind the message `after`. */
export interface Fold {
  /** Its own number. */
  readonly n: number;
  readonly after: number;
}

export interface ContextView {
  /** The number of the summary, which comes first; null: none. */
  readonly put: number | null;
  /** Further summaries, in rising order of their places; absent: none. */
  readonly folds?: readonly Fold[];
  /** Messages before `tailFrom` that are shown, in rising order. */
  readonly keep: readonly NumberRange[];
  readonly clears: readonly ClearedResult[];
  /** All messages from here on are shown, but summaries. */
  readonly tailFrom: number;
}

/** The layer that proposes a view, and what causes it. */
export interface Boundary {
  readonly layer: "micro" | "full" | "notes" | "partial" | "collapse" | "snip" | "drop" | "clear";
  readonly trigger: "auto" | "manual" | "reactive";
  /** Tokens before and after, estimated. */
  readonly before: number;
  readonly after: number;
}

/** A proposal for the next view. The kernel checks it. */
export interface ContextMove extends Omit<ContextView, "put" | "folds"> {
  /** The move that made the present view, as `ctxView` has it: CONFLICT if another came meanwhile. */
  readonly from: number;
  /** A new summary; null: none; absent: that of the present view stays. */
  readonly put?: string | null;
  /** The new summary stands behind this message, and that of the present view stays; absent: it comes first. */
  readonly behind?: number;
  /** The numbers of the further summaries of the present view that stay; absent: all. */
  readonly folds?: readonly number[];
  readonly boundary: Boundary;
}

/** The present view, by the numbers of its messages. */
export interface ViewState {
  /** The number of moves so far. */
  readonly head: number;
  readonly view: ContextView;
  /** The numbers of the messages of `buildPrompt`, in that order. */
  readonly numbers: readonly number[];
  /** The messages that the journal keeps. */
  readonly records: number;
  /** How many moves can be undone. */
  readonly undoable: number;
  /** The numbers of the messages that every view keeps, rising. */
  readonly pins: readonly number[];
}

/** What a pin may not exceed: estimated tokens, of this message and of all pins together. */
export interface PinBounds {
  readonly each: number;
  readonly all: number;
}

/** The window of the model, and what the user allows. */
export interface WindowFacts {
  /** Tokens of input and output together. */
  readonly window: number;
  /** The longest reply of the model. */
  readonly maxOutput: number;
  /** false: the view is moved only when a request was refused as too long. */
  readonly auto: boolean;
  /** false: never. */
  readonly compact: boolean;
  /** The longest reply that the user wants; absent: the usual. */
  readonly output?: number;
  /** Old results are cleared after so many minutes without a reply, too: the provider's cache is cold then. Absent: never. */
  readonly idleMinutes?: number;
  /** Old steps are folded before a summary of all is needed. */
  readonly collapse?: true;
  /** Notes are kept that take the place of a summary. */
  readonly notes?: true;
  /** `+500k` in a message of the user says how much its run should write. */
  readonly targets?: true;
}

/** What an undoing may not exceed, and what it is recorded with. Estimated tokens. */
export interface UndoBounds {
  /** Of the present request. */
  readonly before: number;
  /** Beside the conversation. */
  readonly beside: number;
  /** Tokens for each estimated one. */
  readonly ratio: number;
  /** Of the request afterwards; the next one would be refused with more. */
  readonly most: number;
}

/** What comes before or after a message in view, by its number; the message itself stays. */
export interface ViewPart {
  readonly side: "from" | "up_to";
  readonly message: number;
}

/** What the user asks of the context of a process. */
export type ViewRequest =
  /** `text`: what the summary should pay attention to; "": nothing in particular. */
  | { readonly op: "compact"; readonly text: string; readonly part?: ViewPart }
  | { readonly op: "undo" | "clear" }
  /** Nothing changes: its program says what its requests begin with (`offerAside`). */
  | { readonly op: "offer" }
  /** These leave the view, with what belongs to them. */
  | { readonly op: "snip"; readonly messages: readonly number[] }
  /** Whether memory is told of, recalled and kept. */
  | { readonly op: "memory"; readonly on: boolean }
  /** A message in view by its number, or a new one with this text. */
  | { readonly op: "pin"; readonly message: number | string }
  | { readonly op: "unpin"; readonly message: number };

/** What a model asks of its own view by a program under /bin: its loop does it once the calls of the reply have ended. */
export type ViewWish =
  | { readonly op: "list" }
  | { readonly op: "snip" | "unpin"; readonly messages: readonly number[] }
  | { readonly op: "pin"; readonly messages: readonly number[]; readonly text?: string };

/** Tokens before and after, estimated. */
export interface ViewChange {
  readonly before: number;
  readonly after: number;
  /** The number of the message that was pinned. */
  readonly message?: number;
}

/** A message in view. */
export interface ShownMessage {
  readonly n: number;
  readonly part: "pins" | "messages" | "results" | "memory";
  /** Estimated. */
  readonly tokens: number;
  /** Its beginning. */
  readonly words: string;
}

export type ViewOutcome =
  | ({ readonly ok: true } & ViewChange)
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly hint?: string };

/** The parts of a request that are no messages of the conversation. */
export const BESIDE_PARTS = ["system", "tools", "mcp", "agents", "skills", "instructions", "memory"] as const;
export type BesidePart = (typeof BESIDE_PARTS)[number];

/** How a message begins that has notes of memory for the words of the user before it. */
export const RECALLED =
  "<system-reminder>\nNotes of yours on what the user says. Each shows what was so when it was written: check before you rely on it.";

/** A text that is sent with every request, and the part as which it is counted. */
export interface Section {
  readonly part: BesidePart;
  readonly text: string;
}

/** What folding has done. */
export interface CollapseStats {
  /** false: it has failed too often, and summaries of all take over. */
  readonly active: boolean;
  /** Folds whose summary is written, and those that have taken the place of their steps. */
  readonly staged: number;
  readonly committed: number;
  /** Estimated tokens. */
  readonly saved: number;
  /** In a row. */
  readonly failures: number;
}

/** Output tokens: how many the user wants of the run, and how many were written. */
export interface ShownTarget {
  readonly aim: number;
  readonly spent: number;
}

/** Why automatic compaction has stopped. */
export type BreakerReason = "failures" | "thrash";

/** What the loop knows of its requests. Recorded when it changes, so that it is known of a process that has ended. */
export interface ContextGauge extends WindowFacts {
  readonly device: string;
  /** "": the default of the driver. */
  readonly model: string;
  /** Tokens for each estimated one. */
  readonly ratio: number;
  /** Estimated tokens; a part that is absent has none. */
  readonly beside: Readonly<Partial<Record<BesidePart, number>>>;
  /** null: automatic compaction has not stopped. */
  readonly breaker: BreakerReason | null;
  /** Absent: nothing is folded. */
  readonly folding?: CollapseStats;
  /** Absent, null: the run has no target. */
  readonly target?: ShownTarget | null;
  /** What the last reply reported; null: nothing since the view has moved. */
  readonly reported: Reported | null;
}

/** What has changed of the gauge; of what was reported, the tokens of a request with its reply. */
export type Measures = Partial<Omit<ContextGauge, "reported">> & { readonly reported?: number | null };

/** The tokens of a request with its reply, and the messages that the journal kept at the request. */
interface Reported {
  readonly tokens: number;
  readonly records: number;
}

export const CONTEXT_PARTS = [...BESIDE_PARTS, "pins", "messages", "results"] as const;
export type ContextPart = (typeof CONTEXT_PARTS)[number];

/** A move of the view, as it was recorded. Wall clock, ms. Of moves by earlier versions the counts may be absent. */
export interface ViewMove {
  readonly at: number;
  readonly layer: Boundary["layer"] | "undo";
  readonly trigger: Boundary["trigger"];
  readonly before?: number;
  readonly after?: number;
}

/** What the model sees of a process, and what it costs. */
export interface ContextStat {
  readonly device: string;
  readonly model: string;
  readonly window: number;
  /** The window less what is held back for the reply. */
  readonly effective: number;
  readonly used: number;
  /** Reported by the model; false: estimated. */
  readonly exact: boolean;
  readonly level: "ok" | "warn" | "error" | "blocked";
  readonly thresholds: { readonly warn: number; readonly auto: number | null; readonly block: number };
  /** false: the view is never shortened. */
  readonly compact: boolean;
  readonly breaker: BreakerReason | null;
  /** Absent: nothing is folded. */
  readonly folding?: CollapseStats;
  readonly target?: ShownTarget;
  /** How often the view has moved; the newest moves, oldest first. */
  readonly boundaries: number;
  readonly moves: readonly ViewMove[];
  /** How many moves can be undone. */
  readonly undoable: number;
  /** The messages that the journal keeps, and those in view. */
  readonly records: number;
  readonly shown: number;
  readonly messages: readonly ShownMessage[];
  /** They sum to `used`. Absent: not asked for. */
  readonly parts?: Readonly<Record<ContextPart, number>>;
  /** Held back for the reply: not part of `used`. */
  readonly reserve: number;
}
