/** Replies that come in pieces: cut off at the output limit and resumed, or paused by the provider. */

import { CONTINUES } from "../abi/loop.ts";
import type { ContextMessage } from "../abi/sys.ts";
import { callsOf } from "./model/blocks.ts";
import { type BoundedReply, MAX_CALLS } from "./model/reply.ts";

/** What the model is told after a reply that was cut off. */
export const RESUME_NOTE =
  "<crux-note>Your reply was cut off at the output limit. Go on at once from the very place where it broke off, without " +
  "an apology and without a summary of it. Put what is left into smaller pieces.</crux-note>";

/**
 * What the model is told after a pause. Where the conversation ends with a reply, models that take no beginning of an
 * answer refuse it.
 */
export const PAUSE_NOTE =
  "<crux-note>The provider paused your reply. Go on at once from the very place where it stopped, without a summary of " +
  "it.</crux-note>";

/** What the model is told after a reply with too many calls; {}: it had no more than it may have. */
export function droppedNote({ dropped }: BoundedReply): { readonly note?: string } {
  if (dropped === undefined) return {};
  const note =
    `<crux-note>A reply may have at most ${MAX_CALLS} calls: ${dropped} more of your last one were dropped and did ` +
    "not run. Send what is still wanted in later replies.</crux-note>";
  return { note };
}

/** The line in the log when a reply is resumed. */
export function resumed(attempt: number, maxOutputTokens: number): string {
  const of = CONTINUES.max_output_tokens_recovery.most;
  return `model: reply cut off at ${maxOutputTokens} output tokens, resumed ${attempt}/${of}`;
}

/** The text of the pieces at the end of the conversation. */
export function lastPieces(messages: readonly ContextMessage[]): readonly string[] {
  const isPiece = ({ role, content, blocks }: ContextMessage): boolean =>
    role === "assistant"
      ? callsOf(blocks ?? []).length === 0
      : content === RESUME_NOTE || content === PAUSE_NOTE;
  const first = messages.findLastIndex((message) => !isPiece(message)) + 1;
  return messages.slice(first).flatMap(({ role, content }) => (role === "assistant" ? [content] : []));
}
