import type { RequestBlock, RequestContent } from "../content.ts";
import { isObject, type JsonObject, objectsOf, stringOf } from "../json.ts";

/** Results have no id of their own in older clients: the name of their tool stands for it. */
export function parseOllama(body: JsonObject): RequestContent {
  const all = objectsOf(body.messages);
  const system = all.filter(({ role }) => role === "system").map(({ content }) => stringOf(content));
  const messages: { role: string; content: RequestBlock[] }[] = [];
  let isAfterResult = false;
  for (const message of all.filter(({ role }) => role !== "system")) {
    const { role, content, tool_call_id: id, tool_name: name } = message;
    const isResult = role === "tool";
    const result = { id: stringOf(id ?? name), content: stringOf(content), isError: false };
    const blocks: RequestBlock[] = isResult ? [{ type: "tool_result", ...result }] : said(message);
    const last = messages.at(-1);
    if (isResult && isAfterResult) last?.content.push(...blocks);
    else messages.push({ role: isResult ? "user" : stringOf(role), content: blocks });
    isAfterResult = isResult;
  }
  const tools = objectsOf(body.tools).map((tool) =>
    stringOf(isObject(tool.function) ? tool.function.name : ""),
  );
  return { system: system.join("\n"), tools, messages };
}

function said({ content, tool_calls: calls }: JsonObject): RequestBlock[] {
  const text = stringOf(content);
  const made = objectsOf(calls).map((call): RequestBlock => {
    const fn = isObject(call.function) ? call.function : {};
    return { type: "tool_use", id: stringOf(call.id), name: stringOf(fn.name), input: fn.arguments };
  });
  return [...(text === "" ? [] : [{ type: "text" as const, text }]), ...made];
}
