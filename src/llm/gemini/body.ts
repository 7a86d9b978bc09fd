/**
 * Converts an LlmRequest to the JSON body of a generateContent request. Each message is spelled once for a model, then
 * reused.
 */
import type { Block, ModelCard, WireMessage } from "../../abi/llm.ts";
import { isMedia, type MediaPart } from "../../abi/tool.ts";
import { Running } from "../../lib/grow/running.ts";
import { ByMaker, type Maker, unbind } from "../bound.ts";
import { sentName } from "../call-name.ts";
import type { AttemptRequest } from "../driver.ts";
import { effortOf, thinkingTokens } from "../effort.ts";
import type { Json } from "../json.ts";
import { UNNUMBERED } from "./events.ts";
import { parametersOf } from "./schema.ts";
import { BYPASS, findMark, isSigned, makerOf } from "./signature.ts";

/** The most tokens for thinking of models that take a number; pro models take more. */
const MOST_THINKING_TOKENS = 24_576;
const DYNAMIC = -1;

export function geminiBody(request: AttemptRequest, card: ModelCard, maxOutputTokens: number): string {
  const { tools, stopSequences, temperature, thinking } = request;
  const system = request.system.map(({ text }) => text).filter((text) => text.trim() !== "");
  const thinkingConfig = thinkingOf(request, card, maxOutputTokens);
  const isCool = temperature !== undefined && card.supports.temperature !== false && thinking === undefined;
  const before = {
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: tools.map(functionOf) }] }),
  };
  const generationConfig = {
    maxOutputTokens,
    ...(isCool ? { temperature } : {}),
    ...(stopSequences === undefined ? {} : { stopSequences }),
    ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
  };
  const contents = contentsBy(makerOf(card.id)).of(request.messages).json.slice(0, -1);
  const head = JSON.stringify(before).slice(0, -1);
  return `${head}${head === "{" ? "" : ","}"contents":[${contents}],${JSON.stringify({ generationConfig }).slice(1)}`;
}

function functionOf({ name, description, inputSchema }: AttemptRequest["tools"][number]): Json {
  const parameters = parametersOf(inputSchema);
  return { name, description, ...(parameters === undefined ? {} : { parameters }) };
}

/** Models with levels think always; asked not to, they think as little as they can. */
function thinkingOf(request: AttemptRequest, card: ModelCard, maxOutputTokens: number): Json | undefined {
  const { thinking = "none", thinkingOff } = card.supports;
  const isAsked = request.thinking !== undefined;
  if (thinking === "none") return undefined;
  if (thinking === "adaptive") {
    const level = effortOf(card, request.effort ?? (isAsked ? undefined : "low"));
    const told = level === undefined ? {} : { thinkingLevel: level.toUpperCase() };
    return isAsked ? { includeThoughts: true, ...told } : told;
  }
  if (!isAsked) return thinkingOff === "disabled" ? { thinkingBudget: 0 } : undefined;
  const isFree = request.thinking?.mode === "adaptive" && request.effort === undefined;
  const tokens = isFree ? DYNAMIC : thinkingTokens(request, maxOutputTokens);
  if (tokens === undefined) return undefined;
  return { includeThoughts: true, thinkingBudget: Math.min(tokens, MOST_THINKING_TOKENS) };
}

/** The contents of messages as JSON, each with a comma, and the last calls by their ids: results are matched by name. */
interface Spelled {
  readonly json: string;
  readonly calls: ReadonlyMap<string, string>;
}

const spellings = new ByMaker<Running<WireMessage, Spelled>>();

function contentsBy(maker: Maker): Running<WireMessage, Spelled> {
  const start: Spelled = { json: "", calls: new Map() };
  return spellings.of(maker, () => new Running(start, (sum, message) => spell(sum, message, maker)));
}

function spell({ json, calls }: Spelled, { role, content }: WireMessage, maker: Maker): Spelled {
  const isModel = role === "assistant";
  const parts = isModel ? modelParts(content, maker) : userParts(content, calls);
  const whole = {
    role: isModel ? "model" : "user",
    parts: parts.length > 0 ? parts : [{ text: "(nothing)" }],
  };
  const called = content.flatMap((block) =>
    block.type === "tool_use" ? [[block.id, block.name] as const] : [],
  );
  return { json: `${json}${JSON.stringify(whole)},`, calls: new Map(called) };
}

function modelParts(content: readonly Block[], maker: Maker): Json[] {
  const parts: Json[] = [];
  let signed: Json = {};
  let isFirstCall = true;
  for (const block of content) {
    const own = signed;
    signed = {};
    if (block.type === "redacted_thinking") {
      const mark = findMark(block.data, maker);
      const thoughtSignature = mark?.signature;
      if (mark?.isAlone === true) parts.push({ text: "", thoughtSignature });
      else if (mark !== undefined) signed = { thoughtSignature };
    } else if (block.type === "thinking") {
      const thoughtSignature = unbind(maker, block.signature);
      if (thoughtSignature !== undefined)
        parts.push({ text: block.thinking, thought: true, thoughtSignature });
    } else if (block.type === "text") {
      if (block.text.trim() !== "") parts.push({ text: block.text, ...own });
    } else if (block.type === "tool_use") {
      const isLost = isFirstCall && own.thoughtSignature === undefined && isSigned(maker.model);
      parts.push({ ...callOf(block), ...(isLost ? { thoughtSignature: BYPASS } : own) });
      isFirstCall = false;
    }
  }
  return parts;
}

function callOf({ id, name, input }: Extract<Block, { type: "tool_use" }>): Json {
  return { functionCall: { ...numberOf(id), name: functionName(name), args: input ?? {} } };
}

/** Results first: nothing may stand between a call and its answer. Media follow with the id of their call. */
function userParts(content: readonly Block[], calls: ReadonlyMap<string, string>): Json[] {
  const results = content.flatMap((block) => (block.type === "tool_result" ? [block] : []));
  const answers = results.map(({ tool_use_id: id, content: text, is_error }): Json => {
    const response = is_error === true ? { error: text } : { output: text };
    return { functionResponse: { ...numberOf(id), name: functionName(calls.get(id) ?? ""), response } };
  });
  const shown = results.flatMap(({ tool_use_id, media = [] }): Json[] => {
    if (media.length === 0) return [];
    return [{ text: `[shown by call ${tool_use_id}]` }, ...media.map(inlineData)];
  });
  const said = content.flatMap((block) =>
    block.type === "text" && block.text.trim() !== "" ? [{ text: block.text }] : [],
  );
  return [...answers, ...shown, ...said, ...content.filter(isMedia).map(inlineData)];
}

function inlineData({ media_type, data }: MediaPart): Json {
  return { inlineData: { mimeType: media_type, data } };
}

/** A call without a number is matched by its name and order. */
function numberOf(id: string): Json {
  return id.startsWith(UNNUMBERED) ? {} : { id };
}

/** A name begins with a letter or an underscore here. */
function functionName(name: string): string {
  const sent = sentName(name).slice(0, 63);
  return /^[a-zA-Z_]/.test(sent) ? sent : `_${sent}`;
}
