/**
 * Converts context messages to those of the model API. Guaranteed for any context: the first message is the user's,
 * roles alternate, and every tool_use has exactly one tool_result, in the next message, in the same order.
 */
import type { Block, WireMessage } from "../../abi/llm.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { callsOf } from "../decide.ts";

export const OUTCOME_UNKNOWN = "outcome unknown after a crash, check before repeating";
const UNKNOWN_RESULT: ContextMessage = { role: "tool", content: OUTCOME_UNKNOWN, is_error: true };

/** The limit of base64 media in one request: with its text, the request stays below the limit of one write. */
const MAX_MEDIA_CHARS = 6 * 1024 * 1024;
const LEFT_OUT = "[it is not shown any more: the conversation holds newer ones; view it again to see it]";

export function toWireMessages(messages: readonly ContextMessage[]): WireMessage[] {
  const wire: WireMessage[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as ContextMessage;
    if (message.role === "tool") continue; // a result without its call
    if (message.role !== "assistant") {
      add(wire, "user", blocksOf(message));
      continue;
    }
    const blocks = blocksOf(message);
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

/** Keeps the newest images up to the limit, and replaces older ones by a note. */
function leaveOutOld(wire: readonly WireMessage[]): void {
  let left = MAX_MEDIA_CHARS;
  for (let i = wire.length - 1; i >= 0; i--) {
    const { content } = wire[i] as WireMessage;
    for (let at = content.length - 1; at >= 0; at--) {
      const block = content[at] as Block;
      if (block.type !== "tool_result" || block.media === undefined) continue;
      left -= block.media.reduce((sum, { data }) => sum + data.length, 0);
      if (left >= 0) continue;
      const { media: _media, ...words } = block;
      content[at] = { ...words, content: `${block.content}\n${LEFT_OUT}` };
    }
  }
}

/** Merges neighbouring messages of the same role. */
function add(wire: WireMessage[], role: WireMessage["role"], content: readonly Block[]): void {
  if (content.length === 0) return;
  const last = wire.at(-1);
  if (last?.role === role) last.content.push(...content);
  else wire.push({ role, content: [...content] });
}

/** The blocks of each message, made once: messages never change, so cached sizes of the blocks stay valid. */
const made = new WeakMap<ContextMessage, readonly Block[]>();

function once(message: ContextMessage, make: () => readonly Block[]): readonly Block[] {
  const blocks = made.get(message) ?? make();
  made.set(message, blocks);
  return blocks;
}

/** The blocks as the model sent them, without empty text, which providers refuse. */
function blocksOf(message: ContextMessage): readonly Block[] {
  const { role, blocks, content } = message;
  const sent = role === "assistant" ? blocks : undefined;
  return once(
    message,
    () => sent?.filter((block) => block.type !== "text" || block.text !== "") ?? textBlocks(content),
  );
}

function textBlocks(text: string): Block[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function pairedResults(blocks: readonly Block[], results: ContextMessage[]): readonly Block[] {
  return callsOf(blocks).flatMap(({ id }) => {
    const at = results.findIndex((result) => result.tool_call_id === id);
    const result = results.splice(at, at === -1 ? 0 : 1)[0];
    return result === undefined
      ? resultBlock(id, UNKNOWN_RESULT)
      : once(result, () => resultBlock(id, result));
  });
}

function resultBlock(id: string, { content, media, is_error }: ContextMessage): Block[] {
  const error = is_error === true ? { is_error: true } : {};
  const shown = media === undefined ? {} : { media };
  return [{ type: "tool_result", tool_use_id: id, content, ...error, ...shown }];
}
