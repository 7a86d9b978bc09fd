/**
 * Context messages as a model takes them. Holds whatever the context holds: the first message is the user's, roles
 * alternate, and every tool_use has exactly one tool_result, in the next message, in the same order.
 */
import type { Block, WireMessage } from "../abi/llm.ts";
import type { ContextMessage } from "../abi/sys.ts";
import { callsOf } from "./decide.ts";

export const OUTCOME_UNKNOWN = "outcome unknown after a crash, check before repeating";

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
  if (wire[0]?.role !== "user")
    wire.unshift({ role: "user", content: textBlocks("[earlier messages are left out]") });
  return wire;
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
    const result = at === -1 ? { content: OUTCOME_UNKNOWN, is_error: true } : results.splice(at, 1)[0];
    const block: Block = { type: "tool_result", tool_use_id: id, content: result?.content ?? "" };
    return result?.is_error === true ? { ...block, is_error: true } : block;
  });
}
