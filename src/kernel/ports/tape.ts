/**
 * Everything that a program gets from outside passes through its tape: a recorder passes it on and records it, a player
 * returns what was recorded. So a program replayed from a tape cannot tell the difference, and nothing outside is
 * affected.
 */
import type { ModelStart, ProgramStart } from "../../abi/program.ts";
import type { OwnNotes } from "../../abi/rights.ts";

/** One thing on a tape, as the journal keeps it in the `did` of a `call.read`. */
export type TapeEntry =
  /** A program started. All entries up to the next start belong to this run of it. */
  | { readonly s: "start"; readonly r: Start }
  /** An answer to a call, in the order in which answers reached the program. `a`: digest of the arguments. */
  | { readonly s: string; readonly a: string; readonly r?: unknown }
  | { readonly s: string; readonly a: string; readonly e: unknown }
  /** From the n-th read (from 1), an input had this value. */
  | { readonly s: string; readonly n: number; readonly r: unknown }
  /** The n-th of its abort signals fired. `r`: the exit that this decided for the process. */
  | { readonly s: "abort"; readonly n: number; readonly r: RecordedExit | null };

/** What a program is started with in plain values; what is absent there is absent here. */
type PlainStart = Pick<
  ProgramStart,
  | "mounts"
  | "toolset"
  | "modes"
  | "surroundings"
  | "viewRequests"
  | "early"
  | "ownAgents"
  | "slash"
  | "team"
  | "fork"
  | "maxSteps"
  | keyof ModelStart
>;

/** What a run of the program is given and the process's own records do not contain. */
export interface Start extends PlainStart {
  /** The version of the entries that follow. */
  readonly v: 1;
  readonly crux: string;
  /** It resumed from the state that an earlier daemon recorded. */
  readonly restored: boolean;
  /** It had an fd 0. */
  readonly input: boolean;
  /** For a session: the client that sent the intent. */
  readonly client?: string;
  /** null: general mode. */
  readonly agent: {
    readonly tools: readonly string[] | null;
    readonly disallowedTools?: readonly string[];
    readonly memory?: OwnNotes["scope"];
  } | null;
  /** Present only if no record of the process has it. */
  readonly systemPrompt?: string;
}

export interface RecordedExit {
  readonly code: number;
  readonly reason: string;
  readonly kind: "done" | "fault" | "killed";
}

export interface Tape {
  /** An answer that comes from outside the program, or its failure. */
  answer<R>(name: string, args: unknown, act: () => Promise<R>): Promise<R>;
  /** A value from outside that is available at once. */
  input<T>(name: string, read: () => T): T;
  /**
   * The abort signal that the program gets, for its end or the end of a run. The signal of the process is passed first.
   */
  signal(real: AbortSignal): AbortSignal;
  /** A record of the program's own is about to be written: pending entries are written first. */
  flush(): void;
}

/**
 * Calls on the process's own state, and whether they change it. They run for real in a replay, and their changes are
 * compared. All other calls are answered from the tape, also those that a later version adds.
 */
export const OWN_CALLS: ReadonlyMap<string, "looks" | "changes"> = new Map([
  ["AppendMessage", "changes"],
  ["AppendToolResult", "changes"],
  ["BuildPrompt", "looks"],
  ["CtxAlloc", "changes"],
  ["CtxFree", "changes"],
  ["CtxMove", "changes"],
  ["CtxPin", "changes"],
  ["CtxRead", "looks"],
  ["CtxUndo", "changes"],
  ["CtxUnpin", "changes"],
  ["CtxView", "looks"],
  ["CtxWrite", "changes"],
  ["SetSystemPrompt", "changes"],
  ["Exit", "changes"],
]);
