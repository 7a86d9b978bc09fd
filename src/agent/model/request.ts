/** The request of a turn: what the context holds, as the model device takes it. */
import type { LlmRequest, SystemPart, ToolSpec, WireMessage } from "../../abi/llm.ts";
import type { AccountView } from "../../abi/program.ts";
import type { Prompt } from "../../abi/sys.ts";
import { mediaTokens } from "../../lib/media-tokens.ts";
import { estimateTokens } from "../../lib/tokens.ts";
import { toWireMessages } from "./wire-messages.ts";

/** Providers reserve capacity by the maximum asked for, while nearly all replies are shorter than this. */
export const OUTPUT_TOKENS = 8_000;
/** After a reply was cut off; the driver caps it at what the model can. */
export const ESCALATED_OUTPUT_TOKENS = 64_000;
/** Below this an answer is of no use: the gate refuses the call instead. */
const LEAST_OUTPUT_TOKENS = 1_024;

interface TurnRequest {
  readonly request: LlmRequest;
  /** The most output that a second attempt at this request could ask for. */
  readonly escalatedOutputTokens: number;
}

export function turnRequest(turn: {
  readonly requestId: string;
  readonly model: string;
  readonly prompt: Prompt;
  /** Text about the surroundings; constant while the process lives. */
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
  const inputTokens =
    estimateTokens(JSON.stringify([system, tools, messages.map(wordsOf)])) + shownTokens(messages);
  const maxOutputTokens = outputTokens(turn.account, inputTokens, turn.wantedOutputTokens);
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
    escalatedOutputTokens: outputTokens(turn.account, inputTokens, ESCALATED_OUTPUT_TOKENS),
  };
}

/** Pictures do not count by their characters. */
function wordsOf(message: WireMessage): WireMessage {
  if (!message.content.some((block) => block.type === "tool_result" && block.media !== undefined))
    return message;
  const content = message.content.map((block) => {
    if (block.type !== "tool_result") return block;
    const { media: _media, ...words } = block;
    return words;
  });
  return { ...message, content };
}

function shownTokens(messages: readonly WireMessage[]): number {
  const blocks = messages.flatMap(({ content }) => content);
  return mediaTokens(blocks.flatMap((block) => (block.type === "tool_result" ? (block.media ?? []) : [])));
}

/** What is wanted, or what the account can pay beside the input; whether even the least is affordable, the gate decides. */
export function outputTokens(
  { limit, used, reserved }: AccountView,
  inputTokens: number,
  wanted: number,
): number {
  if (limit <= 0) return wanted;
  return Math.max(LEAST_OUTPUT_TOKENS, Math.min(wanted, limit - used - reserved - inputTokens));
}
