/**
 * What is published of models: limits, abilities and prices (US dollars per million tokens), with the page and the month
 * in which it was read. `models.<id>` and `prices.<id>` in the settings take precedence (own-models.ts).
 */
import type { Effort } from "../abi/llm.ts";
import type { Price } from "./prices.ts";

/** How a model thinks. */
interface Thinks {
  /** adaptive: as much as it finds necessary; budget: up to a given number of tokens. */
  readonly mode: "adaptive" | "budget";
  /** For a model that thinks unless it is told not to: how it is told; always: it cannot be told. */
  readonly off?: "disabled" | "between_tools" | "always";
  /** It thinks between calls only with the beta header of that name. */
  readonly interleavedBeta?: true;
}

export interface ModelRow {
  readonly ids: readonly string[];
  /** Absent: only the price is listed. */
  readonly limits?: { readonly maxInputTokens: number; readonly maxOutputTokens: number };
  readonly thinks?: Thinks;
  /** The levels of effort that the model takes, in ascending order. */
  readonly effort?: readonly Effort[];
  /** False: the model refuses a temperature. */
  readonly takesTemperature?: false;
  /** True: the model may judge calls in auto mode. */
  readonly judges?: true;
  readonly price?: Price;
}

interface Source {
  readonly page: string;
  /** The year and month in which the page was read. */
  readonly seen: string;
  readonly rows: readonly ModelRow[];
}

/** Input, output, input read from the cache, and input written to the cache where that has its own price. */
type Rates = readonly [input: number, output: number, cached?: number, written?: number];

function priceOf([input, output, cached = input, written = input]: Rates) {
  return { input, output, cacheRead: cached, cacheWrite: written };
}

type Abilities = Omit<ModelRow, "ids" | "price">;

/** `long`: the number of input tokens above which other rates apply, and those rates. */
function row(ids: string, rates: Rates, long?: readonly [above: number, rates: Rates]): ModelRow {
  const price = priceOf(rates);
  if (long === undefined) return { ids: ids.split(" "), price };
  return { ids: ids.split(" "), price: { ...price, long: { above: long[0], ...priceOf(long[1]) } } };
}

function able(abilities: Abilities, { ids, price }: ModelRow): ModelRow {
  return { ids, ...abilities, ...(price === undefined ? {} : { price }) };
}

/** Thousands of tokens. */
function limits(input: number, output: number): Pick<ModelRow, "limits"> {
  return { limits: { maxInputTokens: input * 1_000, maxOutputTokens: output * 1_000 } };
}

const toHigh = ["low", "medium", "high"] as const;
const toMax = [...toHigh, "max"] as const;
const allLevels = [...toHigh, "xhigh", "max"] as const;
const budget: Pick<ModelRow, "thinks"> = { thinks: { mode: "budget" } };
const interleaved: Pick<ModelRow, "thinks"> = { thinks: { mode: "budget", interleavedBeta: true } };

/** Claude 5 and later: they think unless told not to, as far as `off` allows. */
function claude5(off: NonNullable<Thinks["off"]>): Abilities {
  const thinks = { mode: "adaptive", off } as const;
  return { ...limits(1_000, 128), thinks, effort: allLevels, takesTemperature: false, judges: true };
}

/** They think always, as much as their level allows, and take no temperature. */
const gemini3: Abilities = {
  ...limits(1_048, 65),
  thinks: { mode: "adaptive", off: "always" },
  effort: toHigh,
  takesTemperature: false,
  judges: true,
};

const gpt6 = { effort: allLevels, takesTemperature: false, judges: true } as const;
const gpt5 = { effort: toHigh, takesTemperature: false } as const;

/** Input that is kept for an hour costs twice its price. */
function keptForAnHour(row: ModelRow): ModelRow {
  const { price } = row;
  if (price === undefined) return row;
  const { long } = price;
  const more = long === undefined ? {} : { long: { ...long, cacheWrite1h: long.input * 2 } };
  return { ...row, price: { ...price, cacheWrite1h: price.input * 2, ...more } };
}

export const MODEL_TABLE: readonly Source[] = [
  {
    page: "platform.claude.com/docs/en/models",
    seen: "2026-11",
    rows: [
      able(claude5("always"), row("claude-opus-5-5", [4, 20, 0.2, 5])),
      able(claude5("between_tools"), row("claude-sonnet-5-5", [2, 10, 0.1, 2.5])),
      able(
        claude5("disabled"),
        row("claude-haiku-5-5", [0.1, 0.5, 0.01, 0.125], [100_000, [0.5, 2.5, 0.05, 0.625]]),
      ),
      able(claude5("disabled"), row("claude-opus-5", [5, 25, 0.5, 6.25])),
      able({ ...limits(200, 64), ...interleaved, judges: true }, row("claude-haiku-4-5", [1, 5, 0.1, 1.25])),
    ].map(keptForAnHour),
  },
  {
    page: "docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html",
    seen: "2026-11",
    rows: [
      { ids: ["claude-opus-4-6", "claude-sonnet-4-6"], thinks: { mode: "adaptive" }, effort: toMax },
      {
        ids: ["claude-opus-4-7", "claude-opus-4-8"],
        thinks: { mode: "adaptive" },
        effort: allLevels,
        takesTemperature: false,
      },
    ],
  },
  {
    page: "claude.com/pricing",
    seen: "2025-11",
    rows: [
      able(
        { ...limits(200, 64), ...interleaved, effort: toHigh },
        row("claude-opus-4-5", [5, 25, 0.5, 6.25]),
      ),
      able(
        { ...limits(200, 32), ...interleaved },
        row("claude-opus-4-1 claude-opus-4 claude-opus-4-0", [15, 75, 1.5, 18.75]),
      ),
      row("claude-3-opus", [15, 75, 1.5, 18.75]),
      able(
        { ...limits(200, 64), ...interleaved },
        row(
          "claude-sonnet-4-5 claude-sonnet-4 claude-sonnet-4-0",
          [3, 15, 0.3, 3.75],
          [200_000, [6, 22.5, 0.6, 7.5]],
        ),
      ),
      able({ ...limits(200, 64), ...budget }, row("claude-3-7-sonnet", [3, 15, 0.3, 3.75])),
      row("claude-3-5-sonnet", [3, 15, 0.3, 3.75]),
      row("claude-3-5-haiku", [0.8, 4, 0.08, 1]),
      row("claude-3-haiku", [0.25, 1.25, 0.03, 0.3]),
    ].map(keptForAnHour),
  },
  {
    page: "developers.openai.com/api/docs/models",
    seen: "2026-11",
    rows: [
      able({ ...limits(872, 128), ...gpt6 }, row("gpt-6.1-sol", [2, 10, 0.1], [272_000, [4, 15, 0.2]])),
      able({ ...limits(922, 128), ...gpt6 }, row("gpt-6.1-terra", [1, 5, 0.05], [272_000, [2, 7.5, 0.1]])),
      { ids: ["gpt-6-luna"], ...limits(872, 128), ...gpt6 },
    ],
  },
  {
    page: "platform.openai.com/docs/pricing",
    seen: "2025-11",
    rows: [
      able(gpt5, row("gpt-5.1 gpt-5.1-codex gpt-5 gpt-5-codex", [1.25, 10, 0.125])),
      row("gpt-5-chat gpt-5.1-chat", [1.25, 10, 0.125]),
      able(gpt5, row("gpt-5-mini gpt-5.1-codex-mini", [0.25, 2, 0.025])),
      able(gpt5, row("gpt-5-nano", [0.05, 0.4, 0.005])),
      able({ effort: ["high"], takesTemperature: false }, row("gpt-5-pro", [15, 120])),
      row("gpt-4.1", [2, 8, 0.5]),
      row("gpt-4.1-mini", [0.4, 1.6, 0.1]),
      row("gpt-4.1-nano", [0.1, 0.4, 0.025]),
      row("gpt-4o", [2.5, 10, 1.25]),
      row("gpt-4o-mini", [0.15, 0.6, 0.075]),
      row("gpt-4-turbo", [10, 30]),
      row("gpt-3.5-turbo", [0.5, 1.5]),
      able(gpt5, row("o1", [15, 60, 7.5])),
      able(gpt5, row("o3", [2, 8, 0.5])),
      able(gpt5, row("o3-pro", [20, 80])),
      able(gpt5, row("o4-mini", [1.1, 4.4, 0.275])),
      able(gpt5, row("o3-mini", [1.1, 4.4, 0.55])),
      able(gpt5, row("codex-mini", [1.5, 6, 0.375])),
    ],
  },
  {
    // carbon and argon at their prices from December 2026, flash at its price until then
    page: "ai.google.dev/gemini-api/docs/pricing",
    seen: "2026-11",
    rows: [
      able(gemini3, row("gemini-4-carbon gemini-4-argon", [4, 20, 0.2])),
      able(gemini3, row("gemini-4-neon", [3, 15, 0.15])),
      able(gemini3, row("gemini-4-hydrogen", [1.5, 7.5, 0.075])),
      able(gemini3, row("gemini-3.8-flash", [0.75, 3.75])),
      able(gemini3, row("gemini-3.1-pro", [2, 12, 0.2], [200_000, [4, 18, 0.4]])),
    ],
  },
  {
    page: "ai.google.dev/gemini-api/docs/pricing",
    seen: "2025-11",
    rows: [
      able(
        { ...gemini3, effort: ["low", "high"] },
        row("gemini-3-pro", [2, 12, 0.2], [200_000, [4, 18, 0.4]]),
      ),
      able(
        { ...limits(1_048, 65), ...budget },
        row("gemini-2.5-pro", [1.25, 10, 0.125], [200_000, [2.5, 15, 0.25]]),
      ),
      able(
        { ...limits(1_048, 65), thinks: { mode: "budget", off: "disabled" } },
        row("gemini-2.5-flash", [0.3, 2.5, 0.03]),
      ),
      able(
        { ...limits(1_048, 65), thinks: { mode: "budget", off: "disabled" } },
        row("gemini-2.5-flash-lite", [0.1, 0.4, 0.01]),
      ),
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
    // the output limit is the vendor's default
    page: "docs.x.ai/developers/models",
    seen: "2026-10",
    rows: [
      able(
        { ...limits(500, 128), judges: true },
        row("grok-4.7 grok-4.6 grok-4.5", [2, 6, 0.5], [200_000, [4, 12, 1]]),
      ),
      able(
        { ...limits(1_000, 128), judges: true },
        row("grok-4.3", [1.25, 2.5, 0.2], [200_000, [2.5, 5, 0.4]]),
      ),
      able({ ...limits(256, 128), judges: true }, row("grok-build-0.1", [1, 2])),
    ],
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
  {
    page: "docs.vllm.ai/en/latest/features/reasoning_outputs",
    seen: "2026-11",
    rows: [{ ids: ["gpt-oss-120b", "gpt-oss-20b"], effort: toHigh }],
  },
];

interface Found extends ModelRow {
  readonly seen: string;
}

const BY_ID: ReadonlyMap<string, Found> = new Map(
  MODEL_TABLE.flatMap(({ seen, rows }) =>
    rows.flatMap((each) => each.ids.map((id) => [id, { ...each, seen }] as const)),
  ),
);

/**
 * The row of an id, matched without its vendor (`openai/gpt-4o`, `anthropic.claude-opus-5-v1:0`), `-latest`, `-preview`
 * and dates. Another variant (`:free`) has its own.
 */
export function findRow(id: string): Found | undefined {
  let name = plainId(id);
  for (;;) {
    const found = BY_ID.get(name);
    if (found !== undefined) return found;
    const shorter = name.replace(/-(latest|preview|exp|\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{4})$/, "");
    if (shorter === name) return undefined;
    name = shorter;
  }
}

/** The id without vendor, region and version, as the platforms of the clouds write it. */
function plainId(id: string): string {
  const name = id.toLowerCase().replace(/^.*\//, "");
  const own = name.replace(/^([a-z-]+\.)?anthropic\./, "");
  return own === name ? name.replace(/@(\d{8}|default)$/, "") : own.replace(/-v\d+(:\d+)?$/, "");
}
