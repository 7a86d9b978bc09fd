/** Builds the request of a turn from the context, in the format of the model device. */
import type {
  Block,
  Effort,
  LlmRequest,
  SystemPart,
  Thinking,
  ToolSpec,
  WireMessage,
} from "../../abi/llm.ts";
import type { AccountView } from "../../abi/program.ts";
import type { Prompt } from "../../abi/sys.ts";
import { isMedia, type MediaPart } from "../../abi/tool.ts";
import { GrownBytes, joinedBytes } from "../../lib/grow/grown-bytes.ts";
import { Running } from "../../lib/grow/running.ts";
import { madeOf } from "../../lib/parts.ts";
import { mediaTokens } from "../../lib/tokens/media.ts";
import { saidSize, sizeOf, type TextSize, tokensOf } from "../../lib/tokens.ts";
import { toWireMessages } from "./wire-messages.ts";

/** The usual maximum. Providers reserve capacity for the maximum requested, and nearly all replies are shorter. */
export const OUTPUT_TOKENS = 8_000;
/** The maximum after a reply was cut off; the driver caps it at the limit of the model. */
export const ESCALATED_OUTPUT_TOKENS = 64_000;
/**
 * A smaller answer would be useless: at least this is requested, and the gate refuses the call if it is not affordable.
 */
const LEAST_OUTPUT_TOKENS = 1_024;

export interface TurnRequest {
  readonly request: LlmRequest;
  /** The estimated input. */
  readonly estimate: number;
  /** The maximum output that a retry of this request could ask for. */
  readonly escalatedOutputTokens: number;
}

export function turnRequest(turn: {
  readonly requestId: string;
  readonly model: string;
  readonly thinking: Thinking | undefined;
  readonly effort: Effort | undefined;
  /** The mark of the model, if it is a fallback. */
  readonly maker?: string;
  readonly prompt: Prompt;
  /** The dynamic part of the system prompt; constant while the process lives. */
  readonly environment: string;
  readonly tools: readonly ToolSpec[];
  readonly account: AccountView;
  readonly wantedOutputTokens: number;
  /** Of a retry after a reply that was cut off. */
  readonly mostOutputTokens: number;
}): TurnRequest {
  const system: SystemPart[] = [];
  if (turn.prompt.systemPrompt !== "") system.push({ text: turn.prompt.systemPrompt, zone: "static" });
  system.push({ text: turn.environment, zone: "dynamic" });
  const tools = [...turn.tools];
  const messages = toWireMessages(turn.prompt.messages, turn.maker);
  const input = inputTokens(system, tools, messages);
  const maxOutputTokens = outputTokens(turn.account, input, turn.wantedOutputTokens);
  return {
    request: {
      requestId: turn.requestId,
      purpose: "main",
      model: turn.model,
      system,
      tools,
      messages,
      maxOutputTokens,
      ...(turn.thinking === undefined ? {} : { thinking: turn.thinking }),
      ...(turn.effort === undefined ? {} : { effort: turn.effort }),
      stream: false,
    },
    estimate: input,
    escalatedOutputTokens: outputTokens(turn.account, input, turn.mostOutputTokens),
  };
}

/** Estimates the input tokens from the JSON of the request; images are counted by size, not by their characters. */
export function inputTokens(
  system: readonly SystemPart[],
  tools: readonly ToolSpec[],
  messages: readonly WireMessage[],
): number {
  const { chars, wide } = sizeOf(JSON.stringify(system));
  const offered = toolSizes.of(tools);
  const said = messageSizes.of(messages);
  // the commas in each of the lists, their brackets, and the commas between them
  const between = commas(tools) + commas(messages) + "[,[],[]]".length;
  const size = { chars: chars + offered.chars + said.chars + between, wide: wide + offered.wide + said.wide };
  return tokensOf(size) + said.shown;
}

function commas(list: readonly unknown[]): number {
  return Math.max(0, list.length - 1);
}

const toolSizes = new Running<ToolSpec, TextSize>({ chars: 0, wide: 0 }, (sum, tool) => {
  const { chars, wide } = sizeOf(JSON.stringify(tool));
  return { chars: sum.chars + chars, wide: sum.wide + wide };
});

interface MessageSize extends TextSize {
  /** The tokens of its images. */
  readonly shown: number;
}

const messageSizes = new Running<WireMessage, MessageSize>(
  { chars: 0, wide: 0, shown: 0 },
  (sum, { role, content }) => {
    let { chars, wide, shown } = sum;
    chars += '{"role":"","content":[]}'.length + role.length + commas(content);
    for (const block of content) {
      const { media = [], ...words } = apart(block);
      const size = sizeOf(JSON.stringify(words));
      chars += size.chars + more(block);
      wide += size.wide;
      shown += mediaTokens(media);
    }
    return { chars, wide, shown };
  },
);

/** By how many characters more a block counts, for what it says is JSON. */
function more(block: Block): number {
  const said = block.type === "tool_result" ? block.content : block.type === "text" ? block.text : "";
  return saidSize(said).chars - said.length;
}

/** A block without its images, and these. */
function apart(block: Block): { readonly type: string; readonly media?: readonly MediaPart[] } {
  if (isMedia(block)) return { type: block.type, media: [block] };
  return block.type === "tool_result" ? block : { ...block, media: [] };
}

/**
 * `wanted`, or what the account can pay besides the input, but at least the minimum; the gate checks whether that is
 * affordable.
 */
export function outputTokens(
  { limit, used, reserved }: AccountView,
  inputTokens: number,
  wanted: number,
): number {
  if (limit <= 0) return wanted;
  return Math.max(LEAST_OUTPUT_TOKENS, Math.min(wanted, limit - used - reserved - inputTokens));
}

/** The request as JSON; of a conversation that has grown, only its new end is spelled. */
export function encodedRequest(request: LlmRequest): Uint8Array {
  const { tools, messages, ...rest } = request;
  const parts: (Uint8Array | string)[] = [];
  let text = "{";
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(name)}:`;
    const list = name === "tools" ? spelledTools.of(tools) : name === "messages" && spelled.of(messages);
    if (list === false) text += JSON.stringify(value);
    else {
      parts.push(`${text}[`, list);
      text = "]";
    }
  }
  return madeOf(
    { text: JSON.stringify(rest), lists: [tools, messages] },
    joinedBytes([...parts, `${text}}`]),
  );
}

const listed = (part: object, isFirst: boolean) => `${isFirst ? "" : ","}${JSON.stringify(part)}`;
const spelled = new GrownBytes<WireMessage>(listed);
const spelledTools = new GrownBytes<ToolSpec>(listed);
