/** Builds the request of a turn from the context, in the format of the model device. */
import type { Block, LlmRequest, SystemPart, ToolSpec, WireMessage } from "../../abi/llm.ts";
import type { AccountView } from "../../abi/program.ts";
import type { Prompt } from "../../abi/sys.ts";
import { mediaTokens } from "../../lib/media-tokens.ts";
import { sizeOf, type TextSize, tokensOf } from "../../lib/tokens.ts";
import { toWireMessages } from "./wire-messages.ts";

/** The usual maximum. Providers reserve capacity for the maximum requested, and nearly all replies are shorter. */
export const OUTPUT_TOKENS = 8_000;
/** The maximum after a reply was cut off; the driver caps it at the limit of the model. */
export const ESCALATED_OUTPUT_TOKENS = 64_000;
/**
 * A smaller answer would be useless: at least this is requested, and the gate refuses the call if it is not affordable.
 */
const LEAST_OUTPUT_TOKENS = 1_024;

interface TurnRequest {
  readonly request: LlmRequest;
  /** The maximum output that a retry of this request could ask for. */
  readonly escalatedOutputTokens: number;
}

export function turnRequest(turn: {
  readonly requestId: string;
  readonly model: string;
  readonly prompt: Prompt;
  /** The dynamic part of the system prompt; constant while the process lives. */
  readonly environment: string;
  readonly tools: readonly ToolSpec[];
  readonly account: AccountView;
  readonly wantedOutputTokens: number;
}): TurnRequest {
  const system: SystemPart[] = [];
  if (turn.prompt.systemPrompt !== "") system.push({ text: turn.prompt.systemPrompt, zone: "static" });
  system.push({ text: turn.environment, zone: "dynamic" });
  const tools = [...turn.tools];
  const messages = toWireMessages(turn.prompt.messages);
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
      stream: false,
    },
    escalatedOutputTokens: outputTokens(turn.account, input, ESCALATED_OUTPUT_TOKENS),
  };
}

/** Estimates the input tokens from the JSON of the request; images are counted by size, not by their characters. */
export function inputTokens(
  system: readonly SystemPart[],
  tools: readonly ToolSpec[],
  messages: readonly WireMessage[],
): number {
  let { chars, wide } = sizeOf(JSON.stringify([system, tools]));
  let shown = 0;
  // a comma before the list, its brackets, and the commas in it
  chars += 2 + Math.max(1, messages.length);
  for (const { role, content } of messages) {
    chars += '{"role":"","content":[]}'.length + role.length + Math.max(0, content.length - 1);
    for (const block of content) {
      const size = blockSize(block);
      chars += size.chars;
      wide += size.wide;
      shown += size.shown;
    }
  }
  return tokensOf({ chars, wide }) + shown;
}

interface BlockSize extends TextSize {
  /** The tokens of its images. */
  readonly shown: number;
}

/** The sizes of known blocks, since each is sent again with the next request. */
const sizes = new WeakMap<Block, BlockSize>();

function blockSize(block: Block): BlockSize {
  const known = sizes.get(block);
  if (known !== undefined) return known;
  const { media = [], ...words } = block.type === "tool_result" ? block : { ...block, media: undefined };
  const size = { ...sizeOf(JSON.stringify(words)), shown: mediaTokens(media) };
  sizes.set(block, size);
  return size;
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
