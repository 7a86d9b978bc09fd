/** A tool call as screens show it: its subject and its outcome. Plain data; the screen makes the line. */

/** Counts of a result. */
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

/** Reported by the tool itself; keys without information are absent. */
export interface CallFacts {
  readonly count?: { readonly n: number; readonly of: CountUnit };
  /** Lines. */
  readonly added?: number;
  readonly removed?: number;
  readonly exit?: number;
  readonly signal?: string;
  /** The job that continues the command in the background: `job-3`. */
  readonly job?: string;
  /** The status that a server answered with. */
  readonly status?: number;
  readonly bytes?: number;
  /** Steps of a list. */
  readonly done?: { readonly n: number; readonly of: number };
  /** The new state or name: `completed`, `task 3`. */
  readonly now?: string;
}

/** How a call ended. */
export interface CallEnd {
  readonly facts?: CallFacts;
  /** Why it failed, in one line; absent: it did not fail. */
  readonly error?: string;
}

export interface CallNote extends CallEnd {
  /** The name that the model used, where no such tool exists. */
  readonly tool: string;
  /** The subject in one line: a path, a command; "" where the name is enough. */
  readonly about: string;
  /** The gate or the user refused it. */
  readonly refused?: true;
}

const MAX_CHARS = 1_000;

/** Bounded, since it is only displayed. */
export function shortened(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS).toWellFormed()}…` : text;
}

export function firstLine(text: string): string {
  return shortened(text.trimStart().split("\n", 1)[0] ?? "");
}
