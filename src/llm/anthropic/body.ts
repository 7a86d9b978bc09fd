/** Converts an LlmRequest to the JSON body of a Messages request. Each message is serialized once, then reused. */
import type { Block, WireMessage } from "../../abi/llm.ts";
import type { MediaPart } from "../../abi/tool.ts";
import { Running } from "../../lib/running.ts";
import { isBound } from "../bound.ts";
import { sentName } from "../call-name.ts";
import type { AttemptRequest } from "../driver.ts";

type Part = Record<string, unknown>;

const marker = { type: "ephemeral" } as const;
/** Markers with a longer lifetime must come before those with a shorter one. */
const FOR_AN_HOUR = { type: "ephemeral", ttl: "1h" } as const;

/** `maxOutputTokens` must not exceed the model's limit. */
export function messagesBody(request: AttemptRequest, model: string, maxOutputTokens: number): string {
  const { tools, temperature, stopSequences } = request;
  const system: Part[] = request.system
    .filter(({ text }) => text.trim() !== "")
    .map(({ text }) => ({ type: "text", text }));
  // uses two of the four markers allowed: one for the constant prefix, one for the conversation so far
  mark(system, request.sharesPrefix === true ? FOR_AN_HOUR : marker);
  const before = {
    model,
    max_tokens: maxOutputTokens,
    ...(system.length === 0 ? {} : { system }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            name,
            description,
            input_schema: inputSchema,
          })),
        }),
  };
  const after = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(stopSequences === undefined ? {} : { stop_sequences: stopSequences }),
    stream: true,
  };
  const messages = earlier.of(request.messages.slice(0, -1)) + lastMessage(request);
  return `${JSON.stringify(before).slice(0, -1)},"messages":[${messages}],${JSON.stringify(after).slice(1)}`;
}

/** The messages before the last one, each with a comma. */
const earlier = new Running<WireMessage, string>(
  "",
  (text, { role, content }) => `${text}${messageText(role, contentOf(content))},`,
);

/** The last message, with a cache marker. It is not cached here, because the next request has it without the marker. */
function lastMessage({ messages, sharesPrefix }: AttemptRequest): string {
  const last = messages.at(-1);
  if (last === undefined) return "";
  const said = contentOf(last.content);
  if (sharesPrefix === true && said.length > 1) mark(said.slice(0, -1), FOR_AN_HOUR);
  else mark(said);
  return messageText(last.role, said);
}

function messageText(role: WireMessage["role"], content: readonly Part[]): string {
  return JSON.stringify({ role, content });
}

/** Puts a cache marker on the last part, except on thinking, where the API refuses it. */
function mark(parts: Part[], as: Part = marker): void {
  const last = parts.at(-1);
  if (last !== undefined && last.type !== "thinking" && last.type !== "redacted_thinking")
    last.cache_control = as;
}

/** The content without what the API refuses: blank text, and thinking of another vendor's model. */
function contentOf(blocks: readonly Block[]): Part[] {
  const parts = blocks.flatMap((block): Part[] => {
    if (block.type === "text" && block.text.trim() === "") return [];
    if (block.type === "thinking" && (block.signature === "" || isBound(block.signature))) return [];
    if (block.type === "redacted_thinking" && isBound(block.data)) return [];
    if (block.type === "tool_result" && block.media !== undefined) return [resultWith(block, block.media)];
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
  const shown = media.map(({ type, media_type, data }) => ({
    type,
    source: { type: "base64", media_type, data },
  }));
  return { ...block, content: [...text, ...shown] };
}
