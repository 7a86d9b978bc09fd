/** Converts an LlmRequest to the body of an Ollama chat. */
import type { Block, Effort, WireMessage } from "../../abi/llm.ts";
import type { MediaPart } from "../../abi/tool.ts";
import { sentName } from "../call-name.ts";
import type { AttemptRequest } from "../driver.ts";
import { type Json, objectOf } from "../json.ts";
import { resultText } from "../result-text.ts";

interface Room {
  /** Tokens of input and output together. */
  readonly context: number;
  readonly maxOutputTokens: number;
  readonly thinks: boolean;
}

export function ollamaBody(request: AttemptRequest, model: string, room: Room): Json {
  const { tools, stopSequences, temperature } = request;
  const system = request.system.map(({ text }) => text).filter((text) => text.trim() !== "");
  return {
    model,
    messages: [
      ...(system.length === 0 ? [] : [{ role: "system", content: system.join("\n\n") }]),
      ...messagesOf(request.messages, room.thinks),
    ],
    ...(tools.length === 0 ? {} : { tools: tools.map(functionOf) }),
    ...(room.thinks ? { think: thinkOf(request, model) } : {}),
    options: {
      num_ctx: room.context,
      num_predict: room.maxOutputTokens,
      ...(temperature === undefined ? {} : { temperature }),
      ...(stopSequences === undefined ? {} : { stop: stopSequences }),
    },
    stream: request.whole !== true,
  };
}

function functionOf({ name, description, inputSchema }: AttemptRequest["tools"][number]): Json {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

/** Models of OpenAI's open weights take a level, and think in any case; others are only told whether. */
function thinkOf({ thinking, effort }: AttemptRequest, model: string): boolean | string {
  if (!/(^|\/)gpt-oss/.test(model)) return thinking !== undefined;
  return levelOf(effort ?? (thinking === undefined ? "low" : "medium"));
}

function levelOf(effort: Effort): string {
  return effort === "low" || effort === "medium" ? effort : "high";
}

/** Each result is a message of its own, with the name of its tool. */
function messagesOf(messages: readonly WireMessage[], thinks: boolean): Json[] {
  const names = new Map<string, string>();
  return messages.flatMap(({ role, content }) => {
    for (const block of content) if (block.type === "tool_use") names.set(block.id, sentName(block.name));
    return role === "assistant" ? [assistantMessage(content, thinks)] : userMessages(content, names);
  });
}

function assistantMessage(content: readonly Block[], thinks: boolean): Json {
  const calls = content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
  // what has a signature is another vendor's
  const thinking = content.flatMap((block) =>
    block.type === "thinking" && block.signature === "" ? [block.thinking] : [],
  );
  return {
    role: "assistant",
    content: textOf(content),
    ...(thinks && thinking.length > 0 && calls.length > 0 ? { thinking: thinking.join("\n") } : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
  };
}

function callOf({ id, name, input }: Extract<Block, { type: "tool_use" }>): Json {
  return { id, function: { name: sentName(name), arguments: objectOf(input) } };
}

function userMessages(content: readonly Block[], names: ReadonlyMap<string, string>): Json[] {
  const results = content.flatMap((block): Json[] => {
    if (block.type !== "tool_result") return [];
    const images = imagesOf(block.media ?? []);
    return [
      {
        role: "tool",
        tool_name: names.get(block.tool_use_id) ?? "",
        tool_call_id: block.tool_use_id,
        content: resultText(block),
        ...(images.length === 0 ? {} : { images }),
      },
    ];
  });
  const text = textOf(content);
  const images = imagesOf(content);
  if (text === "" && images.length === 0 && results.length > 0) return results;
  return [...results, { role: "user", content: text, ...(images.length === 0 ? {} : { images }) }];
}

function imagesOf(parts: readonly (Block | MediaPart)[]): string[] {
  return parts.flatMap((part) => (part.type === "image" ? [part.data] : []));
}

function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
