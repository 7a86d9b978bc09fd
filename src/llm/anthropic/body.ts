/**
 * Converts an LlmRequest to the JSON body of a Messages request, for every server of that dialect. Each message is
 * serialized once, then reused.
 */
import type { Block, WireMessage } from "../../abi/llm.ts";
import { isMedia, type MediaPart } from "../../abi/tool.ts";
import { GrownBytes } from "../../lib/grow/grown-bytes.ts";
import { isBound } from "../bound.ts";
import { sentName } from "../call-name.ts";
import type { AttemptRequest } from "../driver.ts";

type Part = Record<string, unknown>;
type Marker = { readonly type: "ephemeral"; readonly ttl?: "1h" };

const FIVE_MINUTES: Marker = { type: "ephemeral" };
/** Markers with a longer lifetime must come before those with a shorter one. */
const ONE_HOUR: Marker = { type: "ephemeral", ttl: "1h" };

/** What the server is told before the prompt (its model, the output limit), and after it. */
interface Around {
  readonly before: Part;
  readonly after: Part;
}

/** The same as `messagesParts`, as one text. */
export function messagesBody(request: AttemptRequest, around: Around): string {
  return Buffer.concat(messagesParts(request, around)).toString();
}

/**
 * In parts, one after another: the earlier messages are never copied. At most four cache markers: the ends of the static and of the
 * whole system prompt, of the last turn, and of all.
 */
export function messagesParts(request: AttemptRequest, { before, after }: Around): readonly Uint8Array[] {
  const { tools, stopSequences } = request;
  const system = systemOf(request);
  const head = {
    ...before,
    ...(system.length === 0 ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
  };
  const tail = {
    ...(stopSequences === undefined ? {} : { stop_sequences: stopSequences }),
    ...after,
  };
  const end = JSON.stringify(tail).slice(1);
  const joined = end === "}" ? end : `,${end}`;
  const opening = `${JSON.stringify(head).slice(0, -1)},"messages":[`;
  const { earlier, rest } = messagesOf(request);
  return [Buffer.from(opening), earlier, Buffer.from(`${rest}]${joined}`)];
}

function toolOf({ name, description, inputSchema }: AttemptRequest["tools"][number]): Part {
  return { name, description, input_schema: inputSchema };
}

function systemOf(request: AttemptRequest): Part[] {
  const parts = request.system.filter(({ text }) => text.trim() !== "");
  const system = parts.map(({ text }): Part => ({ type: "text", text }));
  const marker = markerOf(request, request.sharesPrefix === true);
  const lastStatic = parts.findLastIndex(({ zone }) => zone === "static");
  mark(system.slice(0, lastStatic + 1), marker);
  mark(system, marker);
  return system;
}

/** The marker of a request; `isShared`: of a part that another request will have within the hour. */
function markerOf({ cacheTtl = "5m" }: AttemptRequest, isShared: boolean): Marker | undefined {
  if (cacheTtl === "off") return undefined;
  return isShared || cacheTtl === "1h" ? ONE_HOUR : FIVE_MINUTES;
}

/** The messages as JSON texts, joined by commas. Those before the end of the last turn are cached without markers. */
function messagesOf(request: AttemptRequest): { readonly earlier: Uint8Array; readonly rest: string } {
  const { messages, sharesPrefix } = request;
  const last = messages.at(-1);
  if (last === undefined) return { earlier: new Uint8Array(), rest: "" };
  const before = messages.slice(0, -1);
  const turnEnd = sharesPrefix === true ? -1 : before.findLastIndex(({ role }) => role === "user");
  const [earlier, [marked, ...since]] =
    turnEnd < 0 ? [before, []] : [before.slice(0, turnEnd), before.slice(turnEnd)];
  const texts = since.map(({ role, content }) => messageText(role, contentOf(content)));
  if (marked !== undefined) texts.unshift(markedText(marked, markerOf(request, false)));
  return { earlier: spelled.of(earlier), rest: [...texts, lastText(request, last)].join(",") };
}

/** The messages of earlier turns, each with a comma. */
const spelled = new GrownBytes<WireMessage>(
  ({ role, content }) => `${messageText(role, contentOf(content))},`,
);

function lastText(request: AttemptRequest, last: WireMessage): string {
  const isShared = request.sharesPrefix === true && last.content.length > 1;
  const content = contentOf(last.content);
  mark(isShared ? content.slice(0, -1) : content, markerOf(request, isShared));
  return messageText(last.role, content);
}

function markedText({ role, content }: WireMessage, marker: Marker | undefined): string {
  const parts = contentOf(content);
  mark(parts, marker);
  return messageText(role, parts);
}

function messageText(role: WireMessage["role"], content: readonly Part[]): string {
  return JSON.stringify({ role, content });
}

/** Puts a cache marker on the last part, except on thinking, where the API refuses it. */
function mark(parts: readonly Part[], marker: Marker | undefined): void {
  const last = parts.at(-1);
  if (marker !== undefined && last !== undefined && !isThinking(last)) last.cache_control = marker;
}

function isThinking({ type }: Part): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/**
 * Whether the calls that the last message answers were made without thinking that can be sent back: then a server that
 * is told to think up to a budget refuses the request.
 */
export function answersUnthought({ messages }: Pick<AttemptRequest, "messages">): boolean {
  if (messages.at(-1)?.content.some(({ type }) => type === "tool_result") !== true) return false;
  const [first] = contentOf(messages.at(-2)?.content ?? []);
  return first === undefined || !isThinking(first);
}

/** The content without what the API refuses: blank text, and thinking of another vendor's model. */
function contentOf(blocks: readonly Block[]): Part[] {
  const parts = blocks.flatMap((block): Part[] => {
    if (block.type === "text" && block.text.trim() === "") return [];
    if (block.type === "thinking" && (block.signature === "" || isBound(block.signature))) return [];
    if (block.type === "redacted_thinking" && isBound(block.data)) return [];
    if (block.type === "tool_result" && block.media !== undefined) return [resultWith(block, block.media)];
    if (isMedia(block)) return [mediaPart(block)];
    if (block.type === "tool_use") return [{ ...block, name: sentName(block.name) }];
    return [{ ...block }];
  });
  return parts.length > 0 ? parts : [{ type: "text", text: "(nothing)" }];
}

/** A tool result with media: text first, left out if blank because the API refuses it. */
function resultWith(
  { media: _media, content, ...block }: Extract<Block, { type: "tool_result" }>,
  media: readonly MediaPart[],
): Part {
  const text = content.trim() === "" ? [] : [{ type: "text", text: content }];
  return { ...block, content: [...text, ...media.map(mediaPart)] };
}

function mediaPart({ type, media_type, data }: MediaPart): Part {
  return { type, source: { type: "base64", media_type, data } };
}
