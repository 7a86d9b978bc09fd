/** A call of a tool as a person follows it: what it was about, and what it came to. Plain data; the screen makes the line. */

/** What was counted in a result. */
export type CountUnit =
  | "line"
  | "match"
  | "file"
  | "changed"
  | "entry"
  | "page"
  | "cell"
  | "result"
  | "task"
  | "tool";

/** By the tool itself; each key only where it says something. */
export interface CallFacts {
  readonly count?: { readonly n: number; readonly of: CountUnit };
  /** Lines. */
  readonly added?: number;
  readonly removed?: number;
  readonly exit?: number;
  readonly signal?: string;
  /** It goes on in the background: `job-3`. */
  readonly job?: string;
  /** What a server answered. */
  readonly status?: number;
  readonly bytes?: number;
  /** Steps of a list. */
  readonly done?: { readonly n: number; readonly of: number };
  /** What it is now: `completed`, `task 3`. */
  readonly now?: string;
}

/** How a call ended. */
export interface CallEnd {
  readonly facts?: CallFacts;
  /** Why it failed, in one line; absent: it did not. */
  readonly error?: string;
}

export interface CallNote extends CallEnd {
  /** As the model called it, where there is no such tool. */
  readonly tool: string;
  /** In one line: a path, a command; "" where the name says it all. */
  readonly about: string;
  /** The gate or a person said no. */
  readonly refused?: true;
}

const MAX_CHARS = 1_000;

/** Bounded: it is only looked at. */
export function shortened(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS).toWellFormed()}…` : text;
}

export function firstLine(text: string): string {
  return shortened(text.trimStart().split("\n", 1)[0] ?? "");
}
