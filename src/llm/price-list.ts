/**
 * List prices of common models without a card (cards.ts): dollars per million tokens, from each vendor's price page at
 * the given date. `models.<id>.price` in the settings takes precedence.
 */
import type { Price } from "./prices.ts";

interface PriceRow {
  readonly ids: readonly string[];
  readonly price: Price;
}

interface Source {
  readonly page: string;
  /** The year and month in which the page was read. */
  readonly seen: string;
  readonly rows: readonly PriceRow[];
}

/** Input, output, input read from the cache, and input written to the cache where that has its own price. */
type Rates = readonly [input: number, output: number, cached?: number, written?: number];

function priceOf([input, output, cached = input, written = input]: Rates) {
  return { input, output, cacheRead: cached, cacheWrite: written };
}

/** `long`: the number of input tokens above which other rates apply, and those rates. */
function row(ids: string, rates: Rates, long?: readonly [above: number, rates: Rates]): PriceRow {
  const price = priceOf(rates);
  if (long === undefined) return { ids: ids.split(" "), price };
  return { ids: ids.split(" "), price: { ...price, long: { above: long[0], ...priceOf(long[1]) } } };
}

export const PRICE_LIST: readonly Source[] = [
  {
    page: "claude.com/pricing",
    seen: "2025-11",
    rows: [
      row("claude-opus-4-5", [5, 25, 0.5, 6.25]),
      row("claude-opus-4-1 claude-opus-4 claude-opus-4-0 claude-3-opus", [15, 75, 1.5, 18.75]),
      row(
        "claude-sonnet-4-5 claude-sonnet-4 claude-sonnet-4-0",
        [3, 15, 0.3, 3.75],
        [200_000, [6, 22.5, 0.6, 7.5]],
      ),
      row("claude-3-7-sonnet claude-3-5-sonnet", [3, 15, 0.3, 3.75]),
      row("claude-3-5-haiku", [0.8, 4, 0.08, 1]),
      row("claude-3-haiku", [0.25, 1.25, 0.03, 0.3]),
    ],
  },
  {
    page: "platform.openai.com/docs/pricing",
    seen: "2025-11",
    rows: [
      row("gpt-5.1 gpt-5.1-codex gpt-5 gpt-5-codex gpt-5-chat gpt-5.1-chat", [1.25, 10, 0.125]),
      row("gpt-5-mini gpt-5.1-codex-mini", [0.25, 2, 0.025]),
      row("gpt-5-nano", [0.05, 0.4, 0.005]),
      row("gpt-5-pro", [15, 120]),
      row("gpt-4.1", [2, 8, 0.5]),
      row("gpt-4.1-mini", [0.4, 1.6, 0.1]),
      row("gpt-4.1-nano", [0.1, 0.4, 0.025]),
      row("gpt-4o", [2.5, 10, 1.25]),
      row("gpt-4o-mini", [0.15, 0.6, 0.075]),
      row("gpt-4-turbo", [10, 30]),
      row("gpt-3.5-turbo", [0.5, 1.5]),
      row("o1", [15, 60, 7.5]),
      row("o3", [2, 8, 0.5]),
      row("o3-pro", [20, 80]),
      row("o4-mini", [1.1, 4.4, 0.275]),
      row("o3-mini", [1.1, 4.4, 0.55]),
      row("codex-mini", [1.5, 6, 0.375]),
    ],
  },
  {
    page: "ai.google.dev/gemini-api/docs/pricing",
    seen: "2025-11",
    rows: [
      row("gemini-3-pro", [2, 12, 0.2], [200_000, [4, 18, 0.4]]),
      row("gemini-2.5-pro", [1.25, 10, 0.125], [200_000, [2.5, 15, 0.25]]),
      row("gemini-2.5-flash", [0.3, 2.5, 0.03]),
      row("gemini-2.5-flash-lite", [0.1, 0.4, 0.01]),
      row("gemini-2.0-flash", [0.1, 0.4, 0.025]),
      row("gemini-2.0-flash-lite", [0.075, 0.3]),
    ],
  },
  {
    page: "api-docs.deepseek.com/quick_start/pricing",
    seen: "2025-11",
    rows: [row("deepseek-chat deepseek-reasoner", [0.28, 0.42, 0.028])],
  },
  {
    page: "docs.x.ai/docs/models",
    seen: "2025-11",
    rows: [
      row("grok-4", [3, 15, 0.75], [128_000, [6, 30, 0.75]]),
      row(
        "grok-4-fast-reasoning grok-4-fast-non-reasoning grok-4-fast",
        [0.2, 0.5, 0.05],
        [128_000, [0.4, 1, 0.05]],
      ),
      row("grok-code-fast-1", [0.2, 1.5, 0.02]),
      row("grok-3", [3, 15, 0.75]),
      row("grok-3-mini", [0.3, 0.5, 0.075]),
    ],
  },
  {
    page: "mistral.ai/pricing",
    seen: "2025-11",
    rows: [
      row("mistral-medium", [0.4, 2]),
      row("mistral-small", [0.1, 0.3]),
      row("codestral", [0.3, 0.9]),
      row("devstral-medium", [0.4, 2]),
      row("devstral-small", [0.1, 0.3]),
    ],
  },
  {
    page: "platform.moonshot.ai/docs/pricing",
    seen: "2025-11",
    rows: [row("kimi-k2 kimi-k2-thinking kimi-k2-0905", [0.6, 2.5, 0.15])],
  },
  { page: "docs.z.ai/guides/overview/pricing", seen: "2025-11", rows: [row("glm-4.6", [0.6, 2.2, 0.11])] },
];

const BY_ID = new Map(
  PRICE_LIST.flatMap(({ rows }) => rows).flatMap(({ ids, price }) => ids.map((id) => [id, price] as const)),
);

/**
 * The price of an id, matched without its vendor (`openai/gpt-4o`), `-latest`, `-preview` and dates. A variant
 * (`:free`) has its own prices.
 */
export function listPrice(id: string): Price | undefined {
  let name = id.toLowerCase().replace(/^.*\//, "");
  for (;;) {
    const price = BY_ID.get(name);
    if (price !== undefined) return price;
    const shorter = name.replace(/-(latest|preview|exp|\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{4})$/, "");
    if (shorter === name) return undefined;
    name = shorter;
  }
}
