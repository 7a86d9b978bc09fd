import type { RequestBlock, RequestContent, RequestMessage } from "../content.ts";
import { findObject, isObject, type JsonObject, listOf, objectsOf, stringOf } from "../json.ts";

const systemRoles = new Set(["system", "developer"]);

export function parseOpenai(body: JsonObject): RequestContent {
  const system: string[] = [];
  const messages: RequestMessage[] = [];
  let results: RequestBlock[] | undefined;
  for (const message of objectsOf(body.messages)) {
    const role = stringOf(message.role);
    if (role === "tool") {
      if (results === undefined) {
        results = [];
        messages.push({ role: "user", content: results });
      }
      results.push(resultOf(message));
      continue;
    }
    results = undefined;
    if (systemRoles.has(role)) system.push(textOf(message.content));
    else messages.push({ role, content: [...partsOf(message.content), ...callsOf(message)] });
  }
  return { system: system.join("\n"), tools: objectsOf(body.tools).map(toolName), messages };
}

function toolName(tool: JsonObject): string {
  return isObject(tool.function) ? stringOf(tool.function.name) : stringOf(tool.name);
}

function resultOf(message: JsonObject): RequestBlock {
  const content = textOf(message.content);
  return { type: "tool_result", id: stringOf(message.tool_call_id), content, isError: false };
}

function partsOf(content: unknown): RequestBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return objectsOf(content).map((part) =>
    part.type === "text" ? { type: "text", text: stringOf(part.text) } : { type: "other", value: part },
  );
}

function callsOf(message: JsonObject): RequestBlock[] {
  return objectsOf(message.tool_calls).map((call) => {
    const fn = isObject(call.function) ? call.function : {};
    const input = findObject(stringOf(fn.arguments)) ?? fn.arguments;
    return { type: "tool_use", id: stringOf(call.id), name: stringOf(fn.name), input };
  });
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : []))
    .join("\n");
}
