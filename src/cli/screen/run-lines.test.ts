import { expect, test } from "vitest";
import type { CompleteEvent } from "../../abi/wire-events.ts";
import { costLine } from "./run-lines.ts";

test.each<[string | undefined, Partial<CompleteEvent>]>([
  ["cost $0.50 for 90 tokens", { cost_usd: 0.5, subtree_cost_usd: 0.5 }],
  ["cost $0.50 for 90 tokens (with all below $2.00)", { cost_usd: 0.5, subtree_cost_usd: 2 }],
  [
    "cost $0.50 for 90 tokens, and 2 calls without a known price",
    { cost_usd: 0.5, subtree_cost_usd: 0.5, unpriced_calls: 2 },
  ],
  ["cost unknown for 90 tokens: 1 call without a known price", { unpriced_calls: 1 }],
  [
    "cost unknown for 90 tokens (with all below $2.00 and more): 1 call without a known price",
    { cost_usd: 0, subtree_cost_usd: 2, unpriced_calls: 1 },
  ],
  [
    "cost $0.50 for 90 tokens (40 cached, 12 thinking)",
    { cost_usd: 0.5, subtree_cost_usd: 0.5, cached_tokens: 40, thinking_tokens: 12 },
  ],
  // a price that is known to be nothing
  ["cost $0.00 for 90 tokens", {}],
  [undefined, { tokens_used: 0 }],
])("costLine() says %s", (words, payload) => {
  const line = costLine({ pid: 1, tokens_used: 90, ...payload });
  expect(line).toBe(words === undefined ? undefined : `[kernel] PID 1: ${words}`);
});
