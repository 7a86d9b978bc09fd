/** Turns finished blocks into a stream, for drivers that produce whole blocks. */
import { type Block, type BlockDelta, isBadInput, type StreamEvent } from "../abi/llm.ts";
import { emptied } from "./blocks.ts";
import { NO_USAGE } from "./fold.ts";

const DELTA_CHARS = 4096;

/** The events of a whole reply, with no token usage. Throws if `blocks` throws. */
export async function* streamOf(
  blocks: Iterable<Block> | AsyncIterable<Block>,
  { id, model }: { readonly id: string; readonly model: string },
): AsyncGenerator<StreamEvent> {
  yield { type: "message_start", message: { id, model, usage: NO_USAGE } };
  let [index, hasCalls] = [0, false];
  for await (const block of blocks) {
    hasCalls ||= block.type === "tool_use";
    yield { type: "content_block_start", index, content_block: emptied(block) };
    for (const delta of deltasOf(block, DELTA_CHARS, jsonOf))
      yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index: index++ };
  }
  const stop_reason = hasCalls ? "tool_use" : "end_turn";
  yield { type: "message_delta", delta: { stop_reason }, usage: NO_USAGE };
  yield { type: "message_stop" };
}

function jsonOf(input: unknown): string {
  return isBadInput(input) ? input.__malformed_json : JSON.stringify(input);
}

/** The deltas of a block. `json` converts the arguments of a call to text. */
export function* deltasOf(
  block: Block,
  chunk: number,
  json: (input: unknown) => string = JSON.stringify,
): Generator<BlockDelta> {
  if (block.type === "text") for (const text of pieces(block.text, chunk)) yield { type: "text_delta", text };
  if (block.type === "thinking") {
    for (const thinking of pieces(block.thinking, chunk)) yield { type: "thinking_delta", thinking };
    yield { type: "signature_delta", signature: block.signature };
  }
  if (block.type === "tool_use")
    for (const partial_json of pieces(json(block.input), chunk))
      yield { type: "input_json_delta", partial_json };
}

/** Splits a text into pieces of whole characters, so that no delta ends inside one. */
function pieces(text: string, size: number): string[] {
  const characters = Array.from(text);
  const out: string[] = [];
  for (let at = 0; at < characters.length; at += size) out.push(characters.slice(at, at + size).join(""));
  return out;
}
