/** The models of each driver: tiers, and cards made from the table of what is published (model-table.ts). */
import type { ModelCard, Usage } from "../abi/llm.ts";
import { nearNames } from "../lib/text/near-names.ts";
import { findRow, MODEL_TABLE, type ModelRow } from "./model-table.ts";
import { costAt, dearest, type Price } from "./prices.ts";

export type Tier = "large" | "mid" | "small";
const tierNames: Readonly<Record<string, Tier>> = {
  large: "large",
  mid: "mid",
  small: "small",
  opus: "large",
  sonnet: "mid",
  haiku: "small",
};

interface DriverCards {
  readonly tiers: Readonly<Record<Tier, string>>;
  /** The ids of its vendor in the table. Absent: no row applies, whatever the model is called. */
  readonly own?: RegExp;
  /** The limits of ids without a row, and the price of all. */
  readonly unknown: NonNullable<ModelRow["limits"]> & { readonly price?: Price };
  /** How its server caches prompts. */
  readonly cache: NonNullable<ModelCard["supports"]["cache"]>;
}

const anthropic: DriverCards = {
  tiers: { large: "claude-opus-5-5", mid: "claude-sonnet-5-5", small: "claude-haiku-5-5" },
  own: /^claude-/,
  unknown: { maxInputTokens: 200_000, maxOutputTokens: 32_000 },
  cache: "explicit",
};

const openai: DriverCards = {
  tiers: { large: "gpt-6.1-sol", mid: "gpt-6.1-terra", small: "gpt-6-luna" },
  own: /^gpt-\d/,
  unknown: { maxInputTokens: 128_000, maxOutputTokens: 16_000 },
  cache: "automatic",
};

/** Unknown ids get what the vendor's oldest models have. */
const gemini: DriverCards = {
  tiers: { large: "gemini-4-carbon", mid: "gemini-4-hydrogen", small: "gemini-3.8-flash" },
  own: /^gemini-/,
  unknown: { maxInputTokens: 1_048_000, maxOutputTokens: 8_000 },
  cache: "automatic",
};

const bedrock: DriverCards = { ...anthropic, own: /^(([a-z-]+\.)?anthropic\.)?claude-/ };

/** The models of both vendors, at their list prices. */
const vertex: DriverCards = {
  tiers: anthropic.tiers,
  own: /^(claude|gemini)-/,
  unknown: anthropic.unknown,
  cache: "explicit",
};

const free: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** Ollama's models may have any name; it silently truncates input above its configured window. */
const ollama: DriverCards = {
  tiers: { large: "", mid: "", small: "" },
  unknown: { maxInputTokens: 32_768, maxOutputTokens: 8_000, price: free },
  cache: "none",
};

/** Its window is asked for; of a longer one the user's settings tell. */
const vllm: DriverCards = {
  tiers: { large: "", mid: "", small: "" },
  unknown: { maxInputTokens: 128_000, maxOutputTokens: 16_000, price: free },
  cache: "automatic",
};

/** The program resolves tier names itself; the price per token of a subscription is unknown. */
const claude: DriverCards = {
  tiers: { large: "opus", mid: "sonnet", small: "haiku" },
  unknown: { maxInputTokens: 200_000, maxOutputTokens: 32_000 },
  cache: "none",
};

const xai: DriverCards = {
  tiers: { large: "grok-4.7", mid: "grok-4.3", small: "grok-build-0.1" },
  own: /^grok-/,
  unknown: { maxInputTokens: 128_000, maxOutputTokens: 16_000 },
  cache: "automatic",
};

const drivers = { anthropic, openai, gemini, xai, bedrock, vertex, vllm, ollama, claude } as const;
export type CardedDriver = keyof typeof drivers;

export function isCarded(driver: string): driver is CardedDriver {
  return Object.hasOwn(drivers, driver);
}

/** Behind a name: its window of a million tokens is wanted, where the vendor has one. It is no part of the id. */
const LONG = /\[1m\]$/i;

export function isLong(model: string): boolean {
  return LONG.test(model);
}

/** Resolves a tier to its model id, and "" to the driver's `mid`; other names stay, without a mark for the window. */
export function modelId(driver: CardedDriver, model: string): string {
  const name = model.replace(LONG, "");
  const tier = name === "" ? "mid" : findTier(name);
  return tier === undefined ? name : drivers[driver].tiers[tier];
}

export function findTier(model: string): Tier | undefined {
  const name = model.replace(LONG, "");
  return Object.hasOwn(tierNames, name) ? tierNames[name] : undefined;
}

export function cardOf(driver: CardedDriver, model: string): ModelCard {
  const id = modelId(driver, model);
  const { unknown, cache } = drivers[driver];
  const row = rowOf(driver, id);
  const { maxInputTokens, maxOutputTokens } = row?.limits ?? unknown;
  const price = priceOf(driver, id);
  const { thinks, effort = [], takesTemperature = true, seen } = row ?? {};
  return {
    id,
    driver,
    maxInputTokens,
    maxOutputTokens,
    supports: {
      tools: true,
      parallelTools: true,
      images: showsImages(driver, id),
      thinking: thinks?.mode ?? "none",
      effort,
      temperature: takesTemperature,
      cache,
      cacheTtl1h: cache === "explicit",
      ...(thinks?.off === undefined ? {} : { thinkingOff: thinks.off }),
      ...(thinks?.interleavedBeta === undefined ? {} : { interleavedBeta: true }),
    },
    ...(price === undefined ? {} : { price: dearest(price) }),
    known: row?.limits !== undefined,
    ...(seen === undefined ? {} : { seen }),
    ...(judgesCalls(driver, id) ? { autoMode: true } : {}),
  };
}

interface KnownModel {
  readonly driver: CardedDriver;
  readonly id: string;
  /** The short name; "": none. */
  readonly short: string;
  readonly card: ModelCard;
  /** The published price; undefined: unknown. */
  readonly price: Price | undefined;
}

/** The models with limits of each vendor, and those behind short names. The models of one's own server are not listed. */
export function knownModels(): readonly KnownModel[] {
  return (Object.keys(drivers) as CardedDriver[]).flatMap((driver) => {
    const { tiers, own } = drivers[driver];
    const listed = MODEL_TABLE.flatMap(({ rows }) => rows).flatMap((row) =>
      row.limits !== undefined && own !== undefined ? row.ids.filter((id) => own.test(id)) : [],
    );
    const ids = new Set([...Object.values(tiers), ...listed].filter((id) => id !== ""));
    return [...ids].map((id) => {
      const price = priceOf(driver, id);
      return { driver, id, short: shortName(driver, id), card: cardOf(driver, id), price };
    });
  });
}

/**
 * At most three models of the driver that a name may have meant: those close to it, else those of its family. Empty: the
 * tables have it, or have nothing like it.
 */
export function nearModels(driver: CardedDriver, id: string): readonly string[] {
  const ids = knownModels().flatMap((known) => (known.driver === driver ? [known.id] : []));
  if (id === "" || ids.includes(id) || findRow(id) !== undefined) return [];
  const near = nearNames(id, ids, (known) => Math.ceil(known.length / 3));
  const family = /^[a-z]+-/.exec(id)?.[0];
  const kin = family === undefined ? [] : ids.filter((known) => known.startsWith(family));
  return (near.length > 0 ? near : kin).slice(0, 3);
}

/** The short name of a model: the vendor's own word, if it has one, rather than the size. */
function shortName(driver: CardedDriver, id: string): string {
  const names = Object.keys(tierNames).filter(
    (name) => drivers[driver].tiers[tierNames[name] as Tier] === id,
  );
  return (driver === "anthropic" || driver === "claude" ? names.at(-1) : names[0]) ?? "";
}

/**
 * Whether a model may classify calls for auto mode: only known models. The `claude` program runs known models under its
 * own names.
 */
function judgesCalls(driver: CardedDriver, id: string): boolean {
  if (driver === "claude") return /^(opus|sonnet|haiku|claude-)/.test(id);
  return drivers[driver].own?.test(id) === true && findRow(id)?.judges === true;
}

/** Model families that accept images. Unknown ids are assumed not to, because a server refuses what it cannot take. */
const SIGHTED: Readonly<Record<string, RegExp>> = {
  anthropic: /^claude-/,
  openai: /^(gpt-4o|gpt-4\.1|gpt-([5-9]|\d\d)|chatgpt-|o[1-9](-|$))/,
  gemini: /^gemini-/,
  bedrock: /claude-/,
  vertex: /^(claude|gemini)-/,
  xai: /^grok-(4\.|build-)/,
};

/** Whether a model accepts images. Not through the `claude` program, which receives text only, nor in a script. */
export function showsImages(driver: string, model: string): boolean {
  const sighted = Object.hasOwn(SIGHTED, driver) ? SIGHTED[driver] : undefined;
  return sighted?.test(modelId(driver as CardedDriver, model)) === true;
}

/** The cost of a reply in US dollars; null: the price is unknown. */
export function costOf(driver: CardedDriver, model: string, usage: Usage): number | null {
  const price = priceOf(driver, modelId(driver, model));
  return price === undefined ? null : costAt(price, usage);
}

/**
 * The published price of a model. List prices do not apply to local models, which are free, nor to subscriptions, whose
 * price is unknown.
 */
function priceOf(driver: CardedDriver, id: string): Price | undefined {
  return drivers[driver].unknown.price ?? rowOf(driver, id)?.price;
}

/** Local models are called as their users like, and the program has names of its own: no row applies to them. */
function rowOf(driver: CardedDriver, id: string): ReturnType<typeof findRow> {
  return drivers[driver].own === undefined ? undefined : findRow(id);
}
