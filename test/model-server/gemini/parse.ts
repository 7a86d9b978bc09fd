import type { RequestBlock, RequestContent } from "../content.ts";
import { isObject, type JsonObject, objectsOf, stringOf } from "../json.ts";

export function parseGemini(body: JsonObject): RequestContent {
  const declared = objectsOf(body.tools).flatMap((tool) => objectsOf(tool.functionDeclarations));
  return {
    system: textsOf(body.systemInstruction).join("\n"),
    tools: declared.map(({ name }) => stringOf(name)),
    messages: objectsOf(body.contents).map((content) => ({
      role: content.role === "model" ? "assistant" : stringOf(content.role),
      content: objectsOf(content.parts).map(blockOf),
    })),
  };
}

/** The model and the wish for a stream stand in the path. */
export function geminiTarget(path: string): { readonly model: string; readonly stream: boolean } {
  const [, model = "", verb = ""] = /\/models\/([^/]+):(\w+)$/.exec(path) ?? [];
  return { model: decodeURIComponent(model), stream: verb === "streamGenerateContent" };
}

function textsOf(content: unknown): string[] {
  return isObject(content) ? objectsOf(content.parts).map(({ text }) => stringOf(text)) : [];
}

function blockOf(part: JsonObject): RequestBlock {
  const { text, functionCall: call, functionResponse: result } = part;
  if (isObject(call))
    return { type: "tool_use", id: stringOf(call.id), name: stringOf(call.name), input: call.args };
  if (isObject(result)) {
    const { output, error } = isObject(result.response) ? result.response : {};
    const content = stringOf(error ?? output);
    return {
      type: "tool_result",
      id: stringOf(result.id ?? result.name),
      content,
      isError: error !== undefined,
    };
  }
  if (part.thought === true) return { type: "thinking", thinking: stringOf(text), signature: "" };
  return typeof text === "string" ? { type: "text", text } : { type: "other", value: part };
}
