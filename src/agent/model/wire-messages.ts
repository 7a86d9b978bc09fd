/**
 * Context messages as a model takes them. Holds whatever the context holds: the first message is the user's, roles
 * alternate, and every tool_use has exactly one tool_result, in the next message, in the same order.
 */
import type { Block, WireMessage } from "../../abi/llm.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { callsOf } from "../decide.ts";

export const OUTCOME_UNKNOWN = "outcome unknown after a crash, check before repeating";
const UNKNOWN_RESULT: ContextMessage = { role: "tool", content: OUTCOME_UNKNOWN, is_error: true };

/** In base64, of one request: with all its text it stays below what one write takes. */
const MAX_MEDIA_CHARS = 6 * 1024 * 1024;
const LEFT_OUT = "[it is not shown any more: the conversation holds newer ones; view it again to see it]";

export function toWireMessages(messages: readonly ContextMessage[]): WireMessage[] {
  const wire: WireMessage[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as ContextMessage;
    if (message.role === "tool") continue; // a result whose call is not there
    if (message.role !== "assistant") {
      add(wire, "user", textBlocks(message.content));
      continue;
    }
    const blocks = assistantBlocks(message);
    add(wire, "assistant", blocks);
    const results: ContextMessage[] = [];
    while (messages[i + 1]?.role === "tool") results.push(messages[++i] as ContextMessage);
    add(wire, "user", pairedResults(blocks, results));
  }
  leaveOutOld(wire);
  if (wire[0]?.role !== "user")
    wire.unshift({ role: "user", content: textBlocks("[earlier messages are left out]") });
  return wire;
}

/** One request takes only so much: the newest pictures stay, of older ones only the word. */
function leaveOutOld(wire: readonly WireMessage[]): void {
  let left = MAX_MEDIA_CHARS;
  for (const { content } of wire.toReversed())
    for (const [at, block] of [...content.entries()].reverse()) {
      if (block.type !== "tool_result" || block.media === undefined) continue;
      left -= block.media.reduce((sum, { data }) => sum + data.length, 0);
      if (left >= 0) continue;
      const { media: _media, ...words } = block;
      content[at] = { ...words, content: `${block.content}\n${LEFT_OUT}` };
    }
}

/** Neighbours of one role become one message. */
function add(wire: WireMessage[], role: WireMessage["role"], content: Block[]): void {
  if (content.length === 0) return;
  const last = wire.at(-1);
  if (last?.role === role) last.content.push(...content);
  else wire.push({ role, content: [...content] });
}

/** The blocks as the model sent them; providers refuse empty text. */
function assistantBlocks({ blocks, content }: ContextMessage): Block[] {
  return blocks?.filter((block) => block.type !== "text" || block.text !== "") ?? textBlocks(content);
}

function textBlocks(text: string): Block[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function pairedResults(blocks: readonly Block[], results: ContextMessage[]): Block[] {
  return callsOf(blocks).map(({ id }) => {
    const at = results.findIndex((result) => result.tool_call_id === id);
    const result = at === -1 ? UNKNOWN_RESULT : results.splice(at, 1)[0];
    const block: Block = { type: "tool_result", tool_use_id: id, content: result?.content ?? "" };
    const shown = result?.media === undefined ? {} : { media: result.media };
    return { ...block, ...(result?.is_error === true ? { is_error: true } : {}), ...shown };
  });
}
