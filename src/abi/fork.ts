/**
 * An internal fork: a child that continues the conversation of its parent for a side task, with requests that begin with the
 * same bytes, so that they read the parent's prompt cache. It leaves no trace in the parent's conversation.
 */
import type { ToolSpec } from "./llm.ts";

/** What the requests of the parent begin with, beside the system prompt and the messages of its context. */
export interface ForkPrefix {
  /** The dynamic part of the system prompt. */
  readonly environment: string;
  /** The text before the first message; "": none. */
  readonly reminder: string;
  /** All tools of the parent: the rights of the fork decide which of them it may call. */
  readonly tools: readonly ToolSpec[];
}

export interface ForkWish {
  /** What it is for, in a word: `memory`. */
  readonly label: string;
  readonly prefix: ForkPrefix;
}
