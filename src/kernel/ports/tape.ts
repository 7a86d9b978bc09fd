/**
 * What a program gets from outside passes its tape: a recorder lets it through and keeps it, a player gives what was kept. So
 * a program that runs again from a tape cannot tell the difference, and nothing outside hears of it.
 */
import type { ProgramStart } from "../../abi/program.ts";

/** One thing on a tape, as the journal keeps it in the `did` of a `call.read`. */
export type TapeEntry =
  /** A program began. Everything after it belongs to this run of it, up to the next. */
  | { readonly s: "start"; readonly r: Start }
  /** An answer to a call, in the order in which answers reached the program. `a`: digest of the arguments. */
  | { readonly s: string; readonly a: string; readonly r?: unknown }
  | { readonly s: string; readonly a: string; readonly e: unknown }
  /** From the n-th time it was asked (from 1), an input had this value. */
  | { readonly s: string; readonly n: number; readonly r: unknown }
  /** The n-th of its abort signals fired. `r`: what that made of the process. */
  | { readonly s: "abort"; readonly n: number; readonly r: RecordedExit | null };

/** What a run of the program is given that its process's own records do not say. */
export interface Start {
  /** Of the form of what follows. */
  readonly v: 1;
  readonly crux: string;
  /** It went on from what an earlier daemon knew. */
  readonly restored: boolean;
  /** There was an fd 0. */
  readonly input: boolean;
  readonly mounts: ProgramStart["mounts"];
  /** Absent: it ran before tools could be looked for. */
  readonly toolset?: 2;
  /** Absent: it ran before modes were told. */
  readonly modes?: true;
  readonly model: string;
  readonly modelDevice: string;
  readonly maxSteps: number;
  /** Of a session: whose message its intent is. */
  readonly client?: string;
  /** null: general mode. */
  readonly agent: {
    readonly tools: readonly string[] | null;
    readonly disallowedTools?: readonly string[];
  } | null;
  /** Only where no record of its own has it. */
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
  /** A value from outside that is there at once. */
  input<T>(name: string, read: () => T): T;
  /** What the program hears when it is to end, or a run of it. The process's own comes first. */
  signal(real: AbortSignal): AbortSignal;
  /** Something of the program's own is about to be recorded: what it had before goes first. */
  flush(): void;
}

/**
 * Calls on what is the process's own, and whether they change it. They run for real in a replay, and what they change is
 * compared. All others are answered from the tape, also those that a later version adds.
 */
export const OWN_CALLS: ReadonlyMap<string, "looks" | "changes"> = new Map([
  ["AppendMessage", "changes"],
  ["AppendToolResult", "changes"],
  ["BuildPrompt", "looks"],
  ["CtxAlloc", "changes"],
  ["CtxFree", "changes"],
  ["CtxRead", "looks"],
  ["CtxWrite", "changes"],
  ["SetSystemPrompt", "changes"],
  ["Exit", "changes"],
]);
