/** Models by driver: windows, tiers and prices as published, November 2026. Dollars per million tokens. */
import type { ModelCard, Usage } from "../abi/llm.ts";
import { listPrice } from "./price-list.ts";
import { costAt, dearest, type Price } from "./prices.ts";

interface CardRow {
  readonly id: string;
  readonly maxInputTokens: number;
  readonly maxOutputTokens: number;
  readonly price?: Price;
}

type Tier = "large" | "mid" | "small";
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
  readonly rows: readonly CardRow[];
  /** The limits of ids without a row. */
  readonly unknown: Omit<CardRow, "id">;
}

const million = 1_000_000;

const anthropic: DriverCards = {
  tiers: { large: "claude-opus-5-5", mid: "claude-sonnet-5-5", small: "claude-haiku-5-5" },
  rows: [
    {
      id: "claude-opus-5-5",
      maxInputTokens: million,
      maxOutputTokens: 128_000,
      price: { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 },
    },
    {
      id: "claude-sonnet-5-5",
      maxInputTokens: million,
      maxOutputTokens: 128_000,
      price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
    },
    {
      id: "claude-haiku-5-5",
      maxInputTokens: million,
      maxOutputTokens: 128_000,
      price: {
        input: 0.1,
        output: 0.5,
        cacheRead: 0.01,
        cacheWrite: 0.125,
        long: { above: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 },
      },
    },
    {
      id: "claude-haiku-4-5",
      maxInputTokens: 200_000,
      maxOutputTokens: 64_000,
      price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
    },
  ],
  unknown: { maxInputTokens: 200_000, maxOutputTokens: 32_000 },
};

const openai: DriverCards = {
  tiers: { large: "gpt-6.1-sol", mid: "gpt-6.1-terra", small: "gpt-6-luna" },
  rows: [
    {
      id: "gpt-6.1-sol",
      maxInputTokens: 872_000,
      maxOutputTokens: 128_000,
      price: {
        input: 2,
        output: 10,
        cacheRead: 0.1,
        cacheWrite: 2,
        long: { above: 272_000, input: 4, output: 15, cacheRead: 0.2, cacheWrite: 4 },
      },
    },
    {
      id: "gpt-6.1-terra",
      maxInputTokens: 922_000,
      maxOutputTokens: 128_000,
      price: {
        input: 1,
        output: 5,
        cacheRead: 0.05,
        cacheWrite: 1,
        long: { above: 272_000, input: 2, output: 7.5, cacheRead: 0.1, cacheWrite: 2 },
      },
    },
    { id: "gpt-6-luna", maxInputTokens: 872_000, maxOutputTokens: 128_000 },
  ],
  unknown: { maxInputTokens: 128_000, maxOutputTokens: 16_000 },
};

const free: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
/** Ollama's models may have any name; it silently truncates input above its configured window. */
const ollama: DriverCards = {
  tiers: { large: "", mid: "", small: "" },
  rows: [],
  unknown: { maxInputTokens: 32_768, maxOutputTokens: 8_000, price: free },
};

/** The program resolves tier names itself; the price per token of a subscription is unknown. */
const claude: DriverCards = {
  tiers: { large: "opus", mid: "sonnet", small: "haiku" },
  rows: [],
  unknown: { maxInputTokens: 200_000, maxOutputTokens: 32_000 },
};

/** As on docs.x.ai/developers/models, October 2026; the output limit is the vendor's default. */
const grok47: Price = {
  input: 2,
  output: 6,
  cacheRead: 0.5,
  cacheWrite: 2,
  long: { above: 200_000, input: 4, output: 12, cacheRead: 1, cacheWrite: 4 },
};
const grok43: Price = {
  input: 1.25,
  output: 2.5,
  cacheRead: 0.2,
  cacheWrite: 1.25,
  long: { above: 200_000, input: 2.5, output: 5, cacheRead: 0.4, cacheWrite: 2.5 },
};
const xai: DriverCards = {
  tiers: { large: "grok-4.7", mid: "grok-4.3", small: "grok-build-0.1" },
  rows: [
    { id: "grok-4.7", maxInputTokens: 500_000, maxOutputTokens: 128_000, price: grok47 },
    { id: "grok-4.6", maxInputTokens: 500_000, maxOutputTokens: 128_000, price: grok47 },
    { id: "grok-4.5", maxInputTokens: 500_000, maxOutputTokens: 128_000, price: grok47 },
    { id: "grok-4.3", maxInputTokens: million, maxOutputTokens: 128_000, price: grok43 },
    {
      id: "grok-build-0.1",
      maxInputTokens: 256_000,
      maxOutputTokens: 128_000,
      price: { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 },
    },
  ],
  unknown: { maxInputTokens: 128_000, maxOutputTokens: 16_000 },
};

const drivers = { anthropic, openai, xai, ollama, claude } as const;
export type CardedDriver = keyof typeof drivers;

export function isCarded(driver: string): driver is CardedDriver {
  return Object.hasOwn(drivers, driver);
}

/** Resolves a tier to its model id, and "" to the driver's `mid`; other names stay. */
export function modelId(driver: CardedDriver, model: string): string {
  const tier = model === "" ? "mid" : findTier(model);
  return tier === undefined ? model : drivers[driver].tiers[tier];
}

export function findTier(name: string): Tier | undefined {
  return Object.hasOwn(tierNames, name) ? tierNames[name] : undefined;
}

export function cardOf(driver: CardedDriver, model: string): ModelCard {
  const id = modelId(driver, model);
  const row = findRow(driver, id);
  const { maxInputTokens, maxOutputTokens } = row ?? drivers[driver].unknown;
  const price = priceOf(driver, id);
  return {
    id,
    driver,
    maxInputTokens,
    maxOutputTokens,
    supports: { tools: true, parallelTools: true, images: showsImages(driver, id) },
    ...(price === undefined ? {} : { price: dearest(price) }),
    known: row !== undefined,
    ...(judgesCalls(driver, id) ? { autoMode: true } : {}),
  };
}

interface KnownModel {
  readonly driver: CardedDriver;
  readonly id: string;
  /** The short name; "": none. */
  readonly short: string;
  readonly maxInputTokens: number;
  /** The published price; undefined: unknown. */
  readonly price: Price | undefined;
}

/** The models with a row, and those behind short names. The models of a self-hosted server are not listed. */
export function knownModels(): readonly KnownModel[] {
  return (Object.keys(drivers) as CardedDriver[]).flatMap((driver) => {
    const { tiers, rows, unknown } = drivers[driver];
    const ids = new Set([...Object.values(tiers), ...rows.map(({ id }) => id)].filter((id) => id !== ""));
    return [...ids].map((id) => {
      const { maxInputTokens } = findRow(driver, id) ?? unknown;
      return { driver, id, short: shortName(driver, id), maxInputTokens, price: priceOf(driver, id) };
    });
  });
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
function judgesCalls(driver: CardedDriver, model: string): boolean {
  const id = modelId(driver, model);
  return (
    findRow(driver, id) !== undefined || (driver === "claude" && /^(opus|sonnet|haiku|claude-)/.test(id))
  );
}

/** Model families that accept images. Unknown ids are assumed not to, because a server refuses what it cannot take. */
const SIGHTED: Readonly<Record<string, RegExp>> = {
  anthropic: /^claude-/,
  openai: /^(gpt-4o|gpt-4\.1|gpt-([5-9]|\d\d)|chatgpt-|o[1-9](-|$))/,
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
  const { price } = findRow(driver, id) ?? drivers[driver].unknown;
  return price ?? (driver === "claude" ? undefined : listPrice(id));
}

/** Finds the row of an id; dated ids (`claude-haiku-4-5-20251001`) share the row of their undated id. */
function findRow(driver: CardedDriver, id: string): CardRow | undefined {
  const undated = id.replace(/-\d{8}$|-\d{4}-\d{2}-\d{2}$/, "");
  return drivers[driver].rows.find((row) => row.id === id || row.id === undated);
}
