/**
 * Builds one content block from its stream. Parts are collected and joined once, so that a long block costs linear
 * time. Content fields of the start event are ignored, because some providers repeat the first text in start and delta.
 */
import type { BadInput, Block, BlockDelta } from "../abi/llm.ts";
import { foreignJson } from "./json.ts";

export class BlockBuilder {
  readonly #start: Block;
  readonly #parts: string[] = [];
  #signature = "";

  constructor(start: Block) {
    this.#start = start;
  }

  /** Adds a delta; deltas of another kind than the block's are ignored. */
  add(delta: BlockDelta): void {
    const { type } = this.#start;
    if (delta.type === "text_delta" && type === "text") this.#parts.push(delta.text);
    else if (delta.type === "thinking_delta" && type === "thinking") this.#parts.push(delta.thinking);
    else if (delta.type === "signature_delta" && type === "thinking") this.#signature = delta.signature;
    else if (delta.type === "input_json_delta" && type === "tool_use") this.#parts.push(delta.partial_json);
  }

  get isCall(): boolean {
    return this.#start.type === "tool_use";
  }

  finish(): Block {
    const start = this.#start;
    switch (start.type) {
      case "text":
        return { type: "text", text: this.#parts.join("") };
      case "thinking":
        return { type: "thinking", thinking: this.#parts.join(""), signature: this.#signature };
      case "tool_use":
        return { type: "tool_use", id: start.id, name: start.name, input: parseInput(this.#parts.join("")) };
      case "image":
      case "document":
      case "redacted_thinking":
      case "tool_result":
        return start;
    }
  }
}

/** The block without its content, as the start event of a stream carries it. */
export function emptied(block: Block): Block {
  switch (block.type) {
    case "text":
      return { type: "text", text: "" };
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: {} };
    case "image":
    case "document":
    case "redacted_thinking":
    case "tool_result":
      return block;
  }
}

/**
 * Parses the arguments of a call: blank is `{}`; anything but one JSON object is kept as BadInput and never run. Some
 * models write the object as a string of JSON.
 */
function parseInput(json: string): Record<string, unknown> | BadInput {
  if (json.trim() === "") return {};
  try {
    const written = foreignJson(json);
    const value = typeof written === "string" ? foreignJson(written) : written;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // kept as text below
  }
  return { __malformed_json: json };
}
