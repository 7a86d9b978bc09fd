/**
 * Converts an LlmRequest to the JSON body of a Responses request that stores nothing on the server. Each message is spelled
 * once for a model, then reused.
 */
import type { Block, Effort, WireMessage } from "../../abi/llm.ts";
import { isMedia, type MediaPart } from "../../abi/tool.ts";
import { Running } from "../../lib/grow/running.ts";
import { ByMaker, type Maker } from "../bound.ts";
import { sentName } from "../call-name.ts";
import type { AttemptRequest } from "../driver.ts";
import type { Json } from "../json.ts";
import { resultText } from "../result-text.ts";
import { phaseOf, reasoningItem } from "./reasoning.ts";

/** The server refuses a smaller limit. */
const LEAST_OUTPUT_TOKENS = 16;

/** How a vendor's models reason. */
export interface Manner {
  /** Whether the model reasons, so that its reasoning is asked for and temperature, which it refuses, is left out. */
  reasons(model: string): boolean;
  /** The effort in the vendor's word; undefined: none is sent. */
  effort(model: string, effort: Effort | undefined, purpose: AttemptRequest["purpose"]): string | undefined;
}

export function responsesBody(
  request: AttemptRequest,
  maker: Maker,
  options: { readonly maxOutputTokens: number; readonly manner: Manner },
): string {
  const { tools, temperature, process } = request;
  const { maxOutputTokens, manner } = options;
  const { model } = maker;
  const system = request.system.map(({ text }) => text).filter((text) => text.trim() !== "");
  const reasons = manner.reasons(model);
  const effort = manner.effort(model, request.effort, request.purpose);
  const before = {
    model,
    ...(system.length === 0 ? {} : { instructions: system.join("\n\n") }),
    ...(tools.length === 0 ? {} : { tools: tools.map(functionOf) }),
  };
  const after = {
    ...(reasons ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...(temperature === undefined || reasons ? {} : { temperature }),
    ...(process === undefined ? {} : { prompt_cache_key: process }),
    max_output_tokens: Math.max(LEAST_OUTPUT_TOKENS, maxOutputTokens),
    store: false,
    stream: request.whole !== true,
  };
  const input = itemsBy(maker).of(request.messages).slice(0, -1);
  return `${JSON.stringify(before).slice(0, -1)},"input":[${input}],${JSON.stringify(after).slice(1)}`;
}

function functionOf({ name, description, inputSchema }: AttemptRequest["tools"][number]): Json {
  return { type: "function", name, description, parameters: inputSchema, strict: false };
}

const spellings = new ByMaker<Running<WireMessage, string>>();

/** The items of messages as JSON, each with a comma: a message is spelled for its reader, who gets back what it made. */
function itemsBy(maker: Maker): Running<WireMessage, string> {
  const add = (text: string, message: WireMessage): string =>
    itemsOf(message, maker).reduce((sum, item) => `${sum}${JSON.stringify(item)},`, text);
  return spellings.of(maker, () => new Running("", add));
}

function itemsOf({ role, content }: WireMessage, maker: Maker): Json[] {
  return role === "assistant" ? assistantItems(content, maker) : userItems(content);
}

/** Results first: nothing may stand between a call and its output. */
function userItems(content: readonly Block[]): Json[] {
  const results = content.flatMap((block): Json[] => {
    if (block.type !== "tool_result") return [];
    return [{ type: "function_call_output", call_id: block.tool_use_id, output: outputOf(block) }];
  });
  const text = textOf(content);
  const shown = content.filter(isMedia).map(mediaPart);
  if (text === "" && shown.length === 0 && results.length > 0) return results;
  const said = text === "" && shown.length > 0 ? [] : [{ type: "input_text", text }];
  return [...results, { type: "message", role: "user", content: [...said, ...shown] }];
}

function outputOf(block: Extract<Block, { type: "tool_result" }>): string | Json[] {
  const text = resultText(block);
  if (block.media === undefined || block.media.length === 0) return text;
  const said = text === "" ? [] : [{ type: "input_text", text }];
  return [...said, ...block.media.map(mediaPart)];
}

function mediaPart({ type, media_type, data }: MediaPart, index: number): Json {
  const url = `data:${media_type};base64,${data}`;
  if (type === "image") return { type: "input_image", image_url: url, detail: "auto" };
  return { type: "input_file", filename: `document-${index + 1}.pdf`, file_data: url };
}

/** Reasoning waits for what it led to: the server refuses reasoning that nothing follows, as in a reply that broke off. */
function assistantItems(content: readonly Block[], maker: Maker): Json[] {
  const items: Json[] = [];
  let waiting: Json[] = [];
  let phase: Json = {};
  for (const block of content) {
    if (block.type === "thinking") {
      waiting.push(...listed(reasoningItem(block.thinking, block.signature, maker)));
    } else if (block.type === "redacted_thinking") {
      const own = phaseOf(block.data, maker);
      phase = own === undefined ? {} : { phase: own };
    } else {
      items.push(...waiting, block.type === "tool_use" ? callOf(block) : { ...answerOf(block), ...phase });
      waiting = [];
      phase = {};
    }
  }
  return items;
}

function listed(item: Json | undefined): Json[] {
  return item === undefined ? [] : [item];
}

function callOf({ id, name, input }: Extract<Block, { type: "tool_use" }>): Json {
  return {
    type: "function_call",
    call_id: id,
    name: sentName(name),
    arguments: JSON.stringify(input ?? {}),
  };
}

function answerOf(block: Block): Json {
  const text = block.type === "text" ? block.text : "";
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

function textOf(content: readonly Block[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
