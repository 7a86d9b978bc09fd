/**
 * The prices of tokens, in dollars per million. Published prices are listed with the models (cards.ts); the user's own
 * take precedence.
 */
import type { ModelCard, Usage } from "../abi/llm.ts";

export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Input that is written to be kept for an hour. Absent: the price of `cacheWrite`. */
  readonly cacheWrite1h?: number;
  /** The rates of a whole request whose input, cached or not, exceeds `above` tokens. */
  readonly long?: { readonly above: number } & Omit<Price, "long">;
}

/** The settings `prices.<id>` and `models.<id>.price`. */
interface PriceSetting {
  readonly input: number;
  readonly output: number;
  /** Absent: the price of input. */
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
}

type PriceSettings = Readonly<Record<string, { readonly price?: PriceSetting | undefined }>>;

/** The setting for this id, else for its longest prefix that has a price. */
export function findPrice(settings: PriceSettings, id: string): Price | undefined {
  const [name] = Object.entries(settings)
    .filter(([prefix, { price }]) => price !== undefined && prefix !== "" && id.startsWith(prefix))
    .map(([prefix]) => prefix)
    .sort((a, b) => b.length - a.length);
  const price = name === undefined ? undefined : settings[name]?.price;
  if (price === undefined) return undefined;
  const { input, output, cacheRead = input, cacheWrite = input, cacheWrite1h } = price;
  const more = cacheWrite1h === undefined ? {} : { cacheWrite1h };
  return { input, output, cacheRead, cacheWrite, ...more };
}

/** The cost of a reply in US dollars. */
export function costAt(price: Price, usage: Usage): number {
  const input = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
  const rate = price.long !== undefined && input > price.long.above ? price.long : price;
  const { cache_creation_1h_tokens: forAnHour = 0 } = usage;
  return (
    (usage.input_tokens * rate.input +
      usage.output_tokens * rate.output +
      (usage.cache_creation_input_tokens - forAnHour) * rate.cacheWrite +
      forAnHour * (rate.cacheWrite1h ?? rate.cacheWrite) +
      usage.cache_read_input_tokens * rate.cacheRead) /
    1_000_000
  );
}

/** The highest rates that may apply, for the reserve. */
export function dearest(price: Price): NonNullable<ModelCard["price"]> {
  const { long } = price;
  const forAnHour = Math.max(price.cacheWrite1h ?? 0, long?.cacheWrite1h ?? 0);
  return {
    input: Math.max(price.input, price.cacheWrite, long?.input ?? 0, long?.cacheWrite ?? 0),
    output: Math.max(price.output, long?.output ?? 0),
    ...(forAnHour > 0 ? { cacheWrite1h: forAnHour } : {}),
  };
}

/** The cost of the given tokens at reserve rates, in US dollars; null: the price is unknown. */
export function worstCost(price: ModelCard["price"], input: number, output: number): number | null {
  return price === undefined ? null : (input * price.input + output * price.output) / 1_000_000;
}
