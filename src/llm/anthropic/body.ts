/** An LlmRequest as the body of a Messages request, as JSON: messages that come again with the next one are spelled once. */
import type { Block, WireMessage } from "../../abi/llm.ts";
import type { MediaPart } from "../../abi/tool.ts";
import { sentName } from "../call-name.ts";
import type { AttemptRequest } from "../driver.ts";

type Part = Record<string, unknown>;

const marker = { type: "ephemeral" } as const;
/** Longer ones must come before shorter ones. */
const FOR_AN_HOUR = { type: "ephemeral", ttl: "1h" } as const;

/** `maxOutputTokens` is already within what the model takes. */
export function messagesBody(request: AttemptRequest, model: string, maxOutputTokens: number): string {
  const { tools, temperature, stopSequences } = request;
  const system: Part[] = request.system
    .filter(({ text }) => text.trim() !== "")
    .map(({ text }) => ({ type: "text", text }));
  // two markers of the four allowed: the prefix that stays, and the conversation so far
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
  const messages = [...request.messages.slice(0, -1).map(spelled), lastMessage(request)];
  return `${JSON.stringify(before).slice(0, -1)},"messages":[${messages.join(",")}],${JSON.stringify(after).slice(1)}`;
}

const texts = new WeakMap<WireMessage, string>();

function spelled(message: WireMessage): string {
  const text = texts.get(message) ?? messageText(message.role, contentOf(message.content));
  texts.set(message, text);
  return text;
}

/** The next request has it without the marker. */
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

/** Never on thinking. */
function mark(parts: Part[], as: Part = marker): void {
  const last = parts.at(-1);
  if (last !== undefined && last.type !== "thinking" && last.type !== "redacted_thinking")
    last.cache_control = as;
}

/** Refused by the API and left out: blank text, and thinking that another vendor's model left without a signature. */
function contentOf(blocks: readonly Block[]): Part[] {
  const parts = blocks.flatMap((block): Part[] => {
    if (block.type === "text" && block.text.trim() === "") return [];
    if (block.type === "thinking" && block.signature === "") return [];
    if (block.type === "tool_result" && block.media !== undefined) return [resultWith(block, block.media)];
    if (block.type === "tool_use") return [{ ...block, name: sentName(block.name) }];
    return [{ ...block }];
  });
  return parts.length > 0 ? parts : [{ type: "text", text: "(nothing)" }];
}

/** Text first; an empty one is refused. */
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
