/**
 * A fork that a process starts of itself: a child that continues the conversation of its parent, with requests that begin
 * with the same bytes, so that they read the parent's prompt cache. An internal fork works on a side task and leaves no trace
 * in the parent's conversation; one that a call of the model starts is a child agent like any other.
 */
import { type ChildMark, FORK_TAG } from "./child.ts";
import type { Block, ToolSpec } from "./llm.ts";

/** What the requests of the parent begin with, beside the system prompt and the messages of its context. */
export interface ForkPrefix {
  /** The dynamic part of the system prompt. */
  readonly environment: string;
  /** The text before the first message; "": none. */
  readonly reminder: string;
  /** All tools of the parent: the rights of the fork decide which of them it may call. */
  readonly tools: readonly ToolSpec[];
  /** The user has turned memory off in the parent. */
  readonly isMemoryOff?: true;
  /** It tidies notes, and has nothing of the conversation. */
  readonly tidies?: TidyTask;
}

/** The notes of one folder of memory. */
export interface TidyTask {
  readonly dir: string;
  /** The names of those that it may read: no data of others is in them. */
  readonly files: readonly string[];
}

/** What a program leaves for the forks that the calls of a reply start. */
export interface ForkOffer {
  readonly prefix: ForkPrefix;
  /** The reply that has the calls, as it enters the conversation when all of them have ended. */
  readonly reply: readonly Block[];
}

export interface ForkWish {
  /** What it is for, in a word: `memory`. One that a call of the model starts: `fork`. */
  readonly label: string;
  /** Absent: as the program has offered it for the calls of this reply. */
  readonly prefix?: ForkPrefix;
  /** Only for one that a call of the model starts. */
  readonly reply?: readonly Block[];
}

/** The label of a fork that a call of the model starts; as a type of agent, its name. */
export const FORK = "fork";

/** Whether a process with this label is a fork that no call of a model started. */
export function isInternal(label: string | undefined): boolean {
  return label !== undefined && label !== FORK;
}

/** Whether it is the message with which a fork begins. No other text has this tag: see unframed. */
export function isDirective({ role, content }: { readonly role: string; readonly content: string }): boolean {
  return role === "user" && content.startsWith(`<${FORK_TAG}>`);
}

/** What a person is shown of a message: of the one with which a fork begins, its directive alone. */
export function withoutBoilerplate(message: { readonly role: string; readonly content: string }): string {
  const { content } = message;
  const end = `</${FORK_TAG}>`;
  const at = isDirective(message) ? content.indexOf(end) : -1;
  return at < 0 ? content : content.slice(at + end.length).trimStart();
}

/** Whether the reply has the call that started this child. */
export function hasCall({ reply }: ForkOffer, { call }: Pick<ChildMark, "call">): boolean {
  return reply.some((block) => block.type === "tool_use" && block.id === call);
}
