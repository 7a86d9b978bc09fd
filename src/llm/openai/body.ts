/** Converts an LlmRequest to the body of a Chat Completions request, with the peculiarities of each server. */
import type { Block, ModelCard, WireMessage } from "../../abi/llm.ts";
import { isMedia, type MediaPart } from "../../abi/tool.ts";
import { sentName } from "../call-name.ts";
import { cardOf } from "../cards.ts";
import type { AttemptRequest } from "../driver.ts";
import { effortOf } from "../effort.ts";
import type { Codec } from "../http/codec.ts";
import { withOwn } from "../own-models.ts";
import { resultText } from "../result-text.ts";
import { ChatDecoder, chunkOf, OPENAI_SERVER } from "./chunks.ts";
import { isOpenAiHost } from "./profile.ts";

type Part = Record<string, unknown>;

/** The peculiarities of one server. */
interface Quirks {
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** Past messages with calls carry their thinking as `reasoning_content`, even empty; other servers reject it. */
  readonly reasoningEcho: boolean;
  /** Models that accept tools on this server only with reasoning turned off. */
  readonly noReasoningWithTools: (model: string) => boolean;
}

/** The vendor's own newer models refuse tools on this interface unless `reasoning_effort` is none. */
const refusesToolsWithReasoning = /^gpt-(5\.[6-9]|[6-9]|\d\d)/;

export function quirksOf(baseUrl: string): Quirks {
  const isVendor = isOpenAiHost(baseUrl);
  return {
    maxTokensField: isVendor ? "max_completion_tokens" : "max_tokens",
    reasoningEcho: /(^|\.)deepseek\.com$/.test(URL.parse(baseUrl)?.hostname ?? ""),
    noReasoningWithTools: (model) => isVendor && refusesToolsWithReasoning.test(model),
  };
}

/** Chat Completions, as the server at `baseUrl` takes it. */
export function chatCodec(baseUrl: string, driver: "openai" | "vllm" = "openai"): Codec {
  const quirks = quirksOf(baseUrl);
  return {
    ...OPENAI_SERVER,
    path: () => "/chat/completions",
    body: (request, model, { maxOutputTokens }) => {
      const card = withOwn({ ...cardOf(driver, model), id: model }, request.own);
      return JSON.stringify(chatBody(request, card, maxOutputTokens, quirks));
    },
    decoder: () => new ChatDecoder(),
    whole: (answer) => [chunkOf(answer)],
  };
}

export function chatBody(
  request: AttemptRequest,
  card: ModelCard,
  maxOutputTokens: number,
  quirks: Quirks,
): Part {
  const { tools } = request;
  const model = card.id;
  const system = request.system.map(({ text }) => text).filter((text) => text.trim() !== "");
  const withTools = tools.length > 0;
  return {
    model,
    messages: [
      ...(system.length === 0 ? [] : [{ role: "system", content: system.join("\n\n") }]),
      ...request.messages.flatMap((message) => messagesOf(message, quirks)),
    ],
    ...(withTools ? { tools: tools.map(functionOf) } : {}),
    ...effortPart(request, card, quirks),
    [quirks.maxTokensField]: maxOutputTokens,
    ...(request.whole === true ? {} : { stream: true, stream_options: { include_usage: true } }),
  };
}

/** What the request says about thinking, effort and temperature: only what the model has. */
function effortPart(request: AttemptRequest, card: ModelCard, quirks: Quirks): Part {
  const { tools, thinking, temperature } = request;
  const isOff = tools.length > 0 && quirks.noReasoningWithTools(card.id);
  const effort = isOff ? "none" : effortOf(card, request.effort);
  const isCool = temperature !== undefined && card.supports.temperature !== false && thinking === undefined;
  return {
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(isCool ? { temperature } : {}),
  };
}

function functionOf({ name, description, inputSchema }: AttemptRequest["tools"][number]): Part {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

function messagesOf({ role, content }: WireMessage, quirks: Quirks): Part[] {
  return role === "assistant" ? [assistantMessage(content, quirks)] : userMessages(content);
}

/** The messages of one user message. Results come first, one each: nothing may stand between a call and its answer. */
function userMessages(content: readonly Block[]): Part[] {
  const results = content.flatMap((block): Part[] => {
    if (block.type !== "tool_result") return [];
    return [{ role: "tool", tool_call_id: block.tool_use_id, content: resultText(block) }];
  });
  const text = textOf(content);
  const shown = content.flatMap(shownParts);
  const own = content.filter(isMedia).map(mediaPart);
  if (shown.length + own.length > 0) {
    const said = text === "" ? [] : [{ type: "text", text }];
    return [...results, { role: "user", content: [...shown, ...said, ...own] }];
  }
  return text === "" && results.length > 0 ? results : [...results, { role: "user", content: text }];
}

/** The media of a result. They follow it in a user message with the call's id: `tool` messages hold text only. */
function shownParts(block: Block): Part[] {
  if (block.type !== "tool_result" || block.media === undefined) return [];
  const title = { type: "text", text: `[shown by call ${block.tool_use_id}]` };
  return [title, ...block.media.map(mediaPart)];
}

function mediaPart({ type, media_type, data }: MediaPart, index: number): Part {
  const url = `data:${media_type};base64,${data}`;
  if (type === "image") return { type: "image_url", image_url: { url } };
  return { type: "file", file: { filename: `document-${index + 1}.pdf`, file_data: url } };
}

function assistantMessage(content: readonly Block[], quirks: Quirks): Part {
  const text = textOf(content);
  const calls = content.flatMap((block): Part[] =>
    block.type === "tool_use"
      ? [
          {
            id: block.id,
            type: "function",
            function: { name: sentName(block.name), arguments: JSON.stringify(block.input ?? {}) },
          },
        ]
      : [],
  );
  if (calls.length === 0) return { role: "assistant", content: text };
  const echo = quirks.reasoningEcho ? { reasoning_content: thinkingOf(content) } : {};
  return { role: "assistant", content: text === "" ? null : text, ...echo, tool_calls: calls };
}

function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function thinkingOf(content: readonly Block[]): string {
  return content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])).join("\n");
}
