/** What the blocks of a reply hold. */
import type { Block } from "../../abi/llm.ts";
import type { ToolCall } from "../../abi/loop.ts";

export function callsOf(blocks: readonly Block[]): ToolCall[] {
  return blocks.filter((block) => block.type === "tool_use");
}

export function textOf(blocks: readonly Block[]): string {
  return blocks
    .flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []))
    .join("\n");
}
