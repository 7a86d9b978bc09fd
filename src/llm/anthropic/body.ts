/** An LlmRequest as the body of a Messages request. */
import type { Block } from "../../abi/llm.ts";
import type { MediaPart } from "../../abi/tool.ts";
import { sentName } from "../call-name.ts";
import type { AttemptRequest } from "../driver.ts";

type Part = Record<string, unknown>;

const marker = { type: "ephemeral" } as const;
/** Longer ones must come before shorter ones. */
const FOR_AN_HOUR = { type: "ephemeral", ttl: "1h" } as const;

/** `maxOutputTokens` is already within what the model takes. */
export function messagesBody(request: AttemptRequest, model: string, maxOutputTokens: number): Part {
  const { tools, temperature, stopSequences } = request;
  const system: Part[] = request.system
    .filter(({ text }) => text.trim() !== "")
    .map(({ text }) => ({ type: "text", text }));
  const messages = request.messages.map(({ role, content }) => ({ role, content: contentOf(content) }));
  // two markers of the four allowed: the prefix that stays, and the conversation so far
  mark(system, request.sharesPrefix === true ? FOR_AN_HOUR : marker);
  const said = messages.at(-1)?.content ?? [];
  if (request.sharesPrefix === true && said.length > 1) mark(said.slice(0, -1), FOR_AN_HOUR);
  else mark(said);
  return {
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
    messages,
    ...(temperature === undefined ? {} : { temperature }),
    ...(stopSequences === undefined ? {} : { stop_sequences: stopSequences }),
    stream: true,
  };
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
