/** The tokens and money that a process has spent by its own calls. */
import type { Charge } from "../../abi/effects.ts";
import { microUsd } from "../../lib/usd.ts";
import type { Facet, RecordBody } from "../facts/facet.ts";

interface Spent {
  readonly tokens: number;
  readonly microUsd: number;
  readonly cached: number;
  readonly thinking: number;
}

function spend(before: Spent, { cost }: RecordBody): Spent {
  const { tokens = 0, usd = 0, usage } = (cost ?? {}) as Partial<Charge>;
  return {
    tokens: before.tokens + tokens,
    microUsd: before.microUsd + microUsd(usd ?? 0),
    cached: before.cached + (usage?.cache_read_input_tokens ?? 0),
    thinking: before.thinking + (usage?.reasoning_tokens ?? 0),
  };
}

const NONE: Spent = { tokens: 0, microUsd: 0, cached: 0, thinking: 0 };

export const spentFacet: Facet<Spent> = {
  init: () => NONE,
  // what its origin had spent is no use of a fork
  folds: { "call.result": spend, "call.unknown": spend, "process.forked": () => NONE },
  pack: ({ tokens, microUsd: paid, cached, thinking }) => ({
    tokensUsed: tokens,
    ...(paid === 0 ? {} : { microUsdUsed: paid }),
    ...(cached === 0 ? {} : { cachedTokens: cached }),
    ...(thinking === 0 ? {} : { thinkingTokens: thinking }),
  }),
  unpack: ({ tokensUsed, microUsdUsed, cachedTokens, thinkingTokens }) => ({
    tokens: Number(tokensUsed ?? 0),
    microUsd: Number(microUsdUsed ?? 0),
    cached: Number(cachedTokens ?? 0),
    thinking: Number(thinkingTokens ?? 0),
  }),
};
