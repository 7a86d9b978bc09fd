/** What a Messages request says about thinking, effort and temperature: only what the model has. Pure. */
import type { ModelCard } from "../../abi/llm.ts";
import { isLong } from "../cards.ts";
import type { AttemptRequest } from "../driver.ts";
import { effortOf, thinkingTokens } from "../effort.ts";
import { answersUnthought } from "./body.ts";

/** Members of the body. */
interface Told {
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number };
  readonly output_config?: { readonly effort: string };
  readonly temperature?: number;
}

export function thinkingPart(request: AttemptRequest, card: ModelCard, maxOutputTokens: number): Told {
  const { temperature } = request;
  const { supports } = card;
  const effort = effortOf(card, request.effort);
  const type = thinkingOf(request, card, maxOutputTokens);
  // a model that thinks unless it is told not to does so here, too
  const thinks = type === undefined ? supports.thinkingOff !== undefined : type.type !== "disabled";
  const isCool = temperature !== undefined && supports.temperature !== false && !thinks;
  return {
    ...(type === undefined ? {} : { thinking: type }),
    ...(effort === undefined ? {} : { output_config: { effort } }),
    ...(isCool ? { temperature } : {}),
  };
}

/** The betas that the request needs, as values of the header `anthropic-beta`. */
export function betasOf(
  { tools, model }: AttemptRequest,
  { supports, maxInputTokens }: ModelCard,
  { thinking }: Told,
): string[] {
  const isInterleaved = thinking?.type === "enabled" && supports.interleavedBeta === true && tools.length > 0;
  // a model whose usual window is as long needs none
  const isExtended = isLong(model) && maxInputTokens < 1_000_000;
  return [
    ...(isInterleaved ? ["interleaved-thinking-2025-05-14"] : []),
    ...(isExtended ? ["context-1m-2025-08-07"] : []),
  ];
}

function thinkingOf(request: AttemptRequest, { supports }: ModelCard, maxOutputTokens: number) {
  const { thinking = "none", thinkingOff } = supports;
  if (request.thinking === undefined) return turnedOff(request, thinkingOff);
  if (thinking === "none") return undefined;
  if (thinking === "adaptive") return { type: "adaptive" };
  const budget_tokens = thinkingTokens(request, maxOutputTokens);
  if (budget_tokens === undefined || answersUnthought(request)) return undefined;
  return { type: "enabled", budget_tokens };
}

/** Thinking cannot be turned off together with an effort above high. */
function turnedOff({ effort }: AttemptRequest, off: ModelCard["supports"]["thinkingOff"]) {
  if (off === undefined || off === "always" || effort === "xhigh" || effort === "max") return undefined;
  return { type: off };
}
