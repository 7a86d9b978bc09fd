/** Estimates the input of a request in tokens. A conversation grows at its end, so only its new end is counted; a request never changes. */
import type { WireMessage } from "../abi/llm.ts";
import { Running } from "../lib/grow/running.ts";
import { mediaTokens } from "../lib/tokens/media.ts";
import { estimateTokens, saidTokens } from "../lib/tokens.ts";
import type { AttemptRequest } from "./driver.ts";

/** The input to reserve: the estimate plus 5 %, because it may be too low. */
export function worstInput(request: AttemptRequest): number {
  return Math.ceil(estimateInput(request) * 1.05);
}

/** Estimates the input of a request in tokens, for the reserve, never for a bill. */
export function estimateInput(request: AttemptRequest): number {
  const { system, tools, messages } = request;
  return systemTokens.of(system) + toolTokens.of(tools) + messageTokens.of(messages);
}

const systemTokens = new Running<AttemptRequest["system"][number], number>(
  0,
  (tokens, { text }) => tokens + estimateTokens(text),
);

const toolTokens = new Running<AttemptRequest["tools"][number], number>(
  0,
  (tokens, tool) => tokens + Math.ceil(JSON.stringify(tool).length / 2),
);

const messageTokens = new Running<WireMessage, number>(0, (tokens, { content }) =>
  content.reduce((sum, block) => sum + blockTokens(block), tokens),
);

function blockTokens(block: WireMessage["content"][number]): number {
  switch (block.type) {
    case "text":
      return saidTokens(block.text);
    case "tool_result":
      return saidTokens(block.content) + mediaTokens(block.media ?? []);
    case "image":
    case "document":
      return mediaTokens([block]);
    case "thinking":
      return estimateTokens(block.thinking);
    default:
      return Math.ceil(JSON.stringify(block).length / 2);
  }
}
