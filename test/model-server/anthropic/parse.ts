import type { RequestBlock, RequestContent } from "../content.ts";
import { isObject, type JsonObject, listOf, objectsOf, stringOf } from "../json.ts";

export function parseAnthropic(body: JsonObject): RequestContent {
  return {
    system: textOf(body.system),
    tools: objectsOf(body.tools).map((tool) => stringOf(tool.name)),
    messages: objectsOf(body.messages).map((message) => ({
      role: stringOf(message.role),
      content: contentOf(message.content),
    })),
  };
}

function contentOf(content: unknown): RequestBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return objectsOf(content).map(blockOf);
}

function blockOf(block: JsonObject): RequestBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: stringOf(block.text) };
    case "thinking":
      return { type: "thinking", thinking: stringOf(block.thinking), signature: stringOf(block.signature) };
    case "tool_use":
      return { type: "tool_use", id: stringOf(block.id), name: stringOf(block.name), input: block.input };
    case "tool_result":
      return {
        type: "tool_result",
        id: stringOf(block.tool_use_id),
        content: textOf(block.content),
        isError: block.is_error === true,
      };
    default:
      return { type: "other", value: block };
  }
}

/** Text of a string or of a list of text blocks. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .flatMap((block) => (isObject(block) && typeof block.text === "string" ? [block.text] : []))
    .join("\n");
}
