/** What the user's settings say of models, and how it changes a card. Pure. */
import type { ModelCard } from "../abi/llm.ts";
import type { Settings } from "../abi/settings/settings.ts";
import { dearest, findPrice, type Price } from "./prices.ts";

/** The settings of models, of prices, and of drivers. */
export type ModelSettings = Pick<
  Settings,
  "models" | "prices" | "cacheTtl" | "promptCache" | "effort" | "ollama" | "apiKeyHelper"
>;

type Entry = NonNullable<Settings["models"]>[string];

/** The entry of a model, without its price. */
export type OwnModel = Omit<Entry, "price">;

/** The entry of this id, else of its longest beginning that has one. Ollama's models have a context that is set for all. */
export function findOwn(
  { models = {}, ollama }: ModelSettings,
  { driver, id }: Pick<ModelCard, "driver" | "id">,
): OwnModel | undefined {
  const name = longest(Object.keys(models), id);
  const entry = name === undefined ? undefined : models[name];
  const context = driver === "ollama" ? ollama?.numCtx : undefined;
  return context === undefined ? entry : { maxInputTokens: context, ...entry };
}

/** `prices.<id>` counts before `models.<id>.price`; of each, the longest beginning of the id. */
export function ownPrice({ prices = {}, models = {} }: ModelSettings, id: string): Price | undefined {
  const stated = Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, { price }]));
  return findPrice(stated, id) ?? findPrice(models, id);
}

function longest(names: readonly string[], id: string): string | undefined {
  return names
    .filter((name) => name !== "" && id.startsWith(name))
    .sort((a, b) => b.length - a.length)
    .at(0);
}

/** The card as the user's settings have it. What they do not name stays. */
export function withOwn(card: ModelCard, own: OwnModel | undefined, price?: Price): ModelCard {
  const priced = price === undefined ? card : { ...card, price: dearest(price) };
  if (own === undefined) return priced;
  const { maxInputTokens, maxOutputTokens, thinking, effort, images, tools, temperature } = own;
  return {
    ...priced,
    ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    supports: {
      ...priced.supports,
      ...(thinking === undefined ? {} : { thinking }),
      ...(effort === undefined ? {} : { effort }),
      ...(images === undefined ? {} : { images }),
      ...(tools === undefined ? {} : { tools }),
      ...(temperature === undefined ? {} : { temperature }),
    },
  };
}
