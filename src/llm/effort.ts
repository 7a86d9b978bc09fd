/** How a request's wish for thinking and effort is met by what the model has. Pure. */
import { EFFORTS, type Effort, type ModelCard } from "../abi/llm.ts";
import type { AttemptRequest } from "./driver.ts";

/** The level to send: the asked one, else the next lower one that the model has. undefined: none is sent. */
export function effortOf({ supports }: ModelCard, asked: Effort | undefined): Effort | undefined {
  if (asked === undefined) return undefined;
  const { effort = [] } = supports;
  const most = EFFORTS.indexOf(asked);
  return effort.findLast((level) => EFFORTS.indexOf(level) <= most) ?? effort[0];
}

/** The least and the usual number of tokens for thinking, for models that take a number. */
const LEAST_TOKENS = 1_024;
const TOKENS: Readonly<Record<Effort, number>> = {
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/**
 * The most tokens for thinking: as asked, or by the effort, but a quarter of the output stays for the reply. undefined:
 * too few are left to think.
 */
export function thinkingTokens(
  { thinking, effort = "medium" }: Pick<AttemptRequest, "thinking" | "effort">,
  maxOutputTokens: number,
): number | undefined {
  const wanted = thinking?.mode === "budget" ? Math.max(LEAST_TOKENS, thinking.tokens) : TOKENS[effort];
  const tokens = Math.min(wanted, Math.floor((maxOutputTokens * 3) / 4));
  return tokens < LEAST_TOKENS ? undefined : tokens;
}
