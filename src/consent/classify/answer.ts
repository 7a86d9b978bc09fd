/** Folds the stream of a model device into one text, with its model and usage. */
import type { StreamEvent, Usage } from "../../abi/llm.ts";

export interface ClassifierAnswer {
  readonly text: string;
  /** Its thinking, if the model reports that separately. */
  readonly thinking: string;
  readonly model: string;
  readonly usage: Usage;
}

const NOTHING: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

export function foldAnswer(lines: readonly string[]): ClassifierAnswer {
  const text: string[] = [];
  const thinking: string[] = [];
  let model = "";
  let usage = NOTHING;
  for (const line of lines) {
    const event = JSON.parse(line) as StreamEvent;
    if (event.type === "message_start") ({ model, usage } = event.message);
    else if (event.type === "message_delta") ({ usage } = event);
    else if (event.type === "content_block_start") {
      const { content_block: block } = event;
      if (block.type === "text") text.push(block.text);
      if (block.type === "thinking") thinking.push(block.thinking);
    } else if (event.type === "content_block_delta") {
      if (event.delta.type === "text_delta") text.push(event.delta.text);
      if (event.delta.type === "thinking_delta") thinking.push(event.delta.thinking);
    }
  }
  return { text: text.join(""), thinking: thinking.join(""), model, usage };
}
