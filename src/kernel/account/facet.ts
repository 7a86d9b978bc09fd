/** The tokens and money that a process has spent by its own calls. */
import { microUsd } from "../../lib/usd.ts";
import type { Facet, RecordBody } from "../facts/facet.ts";

interface Spent {
  readonly tokens: number;
  readonly microUsd: number;
}

function spend({ tokens: before, microUsd: paid }: Spent, { cost }: RecordBody): Spent {
  const { tokens = 0, usd = 0 } = (cost ?? {}) as { tokens?: number; usd?: number | null };
  return { tokens: before + tokens, microUsd: paid + microUsd(usd ?? 0) };
}

export const spentFacet: Facet<Spent> = {
  init: () => ({ tokens: 0, microUsd: 0 }),
  folds: { "call.result": spend, "call.unknown": spend },
  pack: ({ tokens, microUsd: paid }) => ({
    tokensUsed: tokens,
    ...(paid === 0 ? {} : { microUsdUsed: paid }),
  }),
  unpack: ({ tokensUsed, microUsdUsed }) => ({
    tokens: Number(tokensUsed ?? 0),
    microUsd: Number(microUsdUsed ?? 0),
  }),
};
