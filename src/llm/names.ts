/** Tells from a model's name which driver has it, as far as possible. Pure. */
import { findTier } from "./cards.ts";

/** The drivers in the order in which they are tried. */
export const DRIVERS = [
  "anthropic",
  "openai",
  "gemini",
  "xai",
  "bedrock",
  "vertex",
  "claude",
  "vllm",
  "ollama",
  "interpreter",
  "script",
] as const;
export type DriverName = (typeof DRIVERS)[number];

type Env = Readonly<Record<string, string>>;

/** An id of Bedrock's, perhaps with the region of its inference profile: `eu.anthropic.claude-sonnet-4-5-20250929-v1:0`. */
const BEDROCK_ID = /^([a-z-]+\.)?anthropic\.claude-|^arn:aws[a-z-]*:bedrock:/;

/** Name patterns that identify the vendor. `claude` runs the same models as `anthropic`. */
const FAMILIES: readonly { readonly pattern: RegExp; readonly drivers: readonly DriverName[] }[] = [
  {
    pattern: /^(claude|opus|sonnet|haiku)(?![a-z])/i,
    drivers: ["anthropic", "bedrock", "vertex", "claude"],
  },
  { pattern: BEDROCK_ID, drivers: ["bedrock"] },
  {
    // open-weight models (gpt-oss) run on any server
    pattern: /^(gpt-(?!oss)|chatgpt-|o\d(-|$)|codex-|ft:gpt-|computer-use-)/i,
    drivers: ["openai"],
  },
  { pattern: /^gemini-/i, drivers: ["gemini", "vertex"] },
  { pattern: /^grok-/i, drivers: ["xai"] },
];

const ALIAS = /^(opus|sonnet|haiku)(\[1m\])?$/i;

/** The drivers whose vendor has the model; empty: the name does not identify a vendor. */
export function vendorsOf(model: string): readonly DriverName[] {
  return FAMILIES.find(({ pattern }) => pattern.test(model))?.drivers ?? [];
}

/** Whether the name is a size, which every driver accepts, rather than a vendor's own word. */
export function isSize(model: string): boolean {
  return findTier(model) !== undefined && !ALIAS.test(model);
}

/**
 * Whether a configured driver may be asked for the model. `isNamed`: the user named the driver, so its server decides
 * whether it has the model; but the short name of one vendor means nothing to another vendor.
 */
export function mayHave(driver: DriverName, model: string, isNamed: boolean, env: Env): boolean {
  if (driver === "interpreter" || driver === "script") return false;
  // AWS's keys are for many services: they are used for what is asked for there
  if (driver === "bedrock" && !isNamed && !BEDROCK_ID.test(model) && !env.AWS_BEARER_TOKEN_BEDROCK)
    return false;
  if (model === "" || isSize(model)) return true;
  const vendors = vendorsOf(model);
  if (vendors.length > 0)
    return vendors.includes(driver) || (isNamed && !ALIAS.test(model) && takesAnyId(driver, env));
  return takesAnyId(driver, env) || (isNamed && driver !== "claude");
}

/** Whether the driver's server is not the vendor's, so that only the server knows its models. */
function takesAnyId(driver: DriverName, env: Env): boolean {
  switch (driver) {
    case "ollama":
    case "vllm":
      return true;
    case "openai":
      return isElsewhere(env.OPENAI_BASE_URL, "api.openai.com");
    case "anthropic":
      return isElsewhere(env.ANTHROPIC_BASE_URL, "api.anthropic.com");
    case "gemini":
      return isElsewhere(env.GEMINI_BASE_URL, "generativelanguage.googleapis.com");
    case "xai":
      return isElsewhere(env.XAI_BASE_URL, "api.x.ai");
    case "bedrock":
    case "vertex":
    case "claude":
    case "interpreter":
    case "script":
      return false;
  }
}

function isElsewhere(url: string | undefined, vendor: string): boolean {
  const text = url?.trim() ?? "";
  return text !== "" && URL.parse(text)?.hostname !== vendor;
}

/**
 * Whether `answered` is the requested model, perhaps under another form of its name (`opus`, `x-latest`, `vendor/x`).
 */
export function isSameModel(asked: string, answered: string): boolean {
  const [one, other] = [plain(asked), plain(answered)];
  return one === "" || other === "" || other.includes(one) || one.includes(other);
}

function plain(id: string): string {
  return id
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/\[1m\]$/, "")
    .replace(/:.*$/, "")
    .replace(/-(latest|preview|\d{8}|\d{4}-\d{2}-\d{2})$/, "");
}
