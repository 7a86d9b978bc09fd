/**
 * Views of a context. The journal keeps every message of a process; a view selects what the model sees. Messages have
 * numbers, from 1 in the order in which they were added; a number is never used again.
 */

/** Numbers a … b, both included. */
export type NumberRange = readonly [first: number, last: number];

/** A tool result that is cleared or shortened in the view; its images leave the view, too. */
export interface ClearedResult {
  readonly n: number;
  /** The characters of it that stay; absent: none. */
  readonly keep?: number;
}

export interface ContextView {
  /** The number of the summary, which comes first; null: none. */
  readonly put: number | null;
  /** Messages before `tailFrom` that are shown, in rising order. */
  readonly keep: readonly NumberRange[];
  readonly clears: readonly ClearedResult[];
  /** All messages from here on are shown, but summaries. */
  readonly tailFrom: number;
}

/** The layer that proposes a view, and what causes it. */
export interface Boundary {
  readonly layer: "micro" | "full" | "drop";
  readonly trigger: "auto" | "manual" | "reactive";
  /** Tokens before and after, estimated. */
  readonly before: number;
  readonly after: number;
}

/** A proposal for the next view. The kernel checks it. */
export interface ContextMove extends Omit<ContextView, "put"> {
  /** The move that made the present view, as `ctxView` has it: CONFLICT if another came meanwhile. */
  readonly from: number;
  /** A new summary; null: none; absent: that of the present view stays. */
  readonly put?: string | null;
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
}
