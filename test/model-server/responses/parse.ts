import type { RequestBlock, RequestContent, RequestMessage } from "../content.ts";
import { findObject, type JsonObject, listOf, objectsOf, stringOf } from "../json.ts";

const systemRoles = new Set(["system", "developer"]);

/** Items that follow one another on one side of the conversation are one message. */
export function parseResponses(body: JsonObject): RequestContent {
  const system = [stringOf(body.instructions)];
  const messages: { role: string; content: RequestBlock[] }[] = [];
  for (const item of inputOf(body.input)) {
    const role = roleOf(item);
    if (systemRoles.has(role)) system.push(textOf(item.content));
    else {
      const last = messages.at(-1);
      if (last?.role === role) last.content.push(...blocksOf(item));
      else messages.push({ role, content: blocksOf(item) });
    }
  }
  return {
    system: system.filter((text) => text !== "").join("\n"),
    tools: objectsOf(body.tools).map(({ name }) => stringOf(name)),
    messages: messages as RequestMessage[],
  };
}

export function inputOf(input: unknown): JsonObject[] {
  return typeof input === "string" ? [{ role: "user", content: input }] : objectsOf(input);
}

function roleOf(item: JsonObject): string {
  if (typeof item.role === "string") return item.role;
  return item.type === "function_call_output" ? "user" : "assistant";
}

function blocksOf(item: JsonObject): RequestBlock[] {
  switch (item.type) {
    case "function_call": {
      const input = findObject(stringOf(item.arguments)) ?? item.arguments;
      return [{ type: "tool_use", id: stringOf(item.call_id), name: stringOf(item.name), input }];
    }
    case "function_call_output":
      return [
        { type: "tool_result", id: stringOf(item.call_id), content: textOf(item.output), isError: false },
      ];
    case "reasoning": {
      const thinking = objectsOf(item.summary)
        .map(({ text }) => stringOf(text))
        .join("\n\n");
      return [{ type: "thinking", thinking, signature: stringOf(item.encrypted_content) }];
    }
    default:
      return partsOf(item.content);
  }
}

function partsOf(content: unknown): RequestBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return objectsOf(content).map((part) =>
    typeof part.text === "string" ? { type: "text", text: part.text } : { type: "other", value: part },
  );
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .flatMap((part) => objectsOf([part]))
    .map(({ text }) => stringOf(text))
    .join("\n");
}
