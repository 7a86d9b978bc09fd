/** Which driver has a model, as far as its name tells. Pure. */
import { findTier } from "./cards.ts";

/** In the order in which they are looked for. */
export const DRIVERS = ["anthropic", "openai", "claude", "ollama", "interpreter", "script"] as const;
export type DriverName = (typeof DRIVERS)[number];

type Env = Readonly<Record<string, string>>;

/** Names that tell their vendor. `claude` runs the same ones as `anthropic`. */
const FAMILIES: readonly { readonly pattern: RegExp; readonly drivers: readonly DriverName[] }[] = [
  { pattern: /^(claude|opus|sonnet|haiku)(?![a-z])/i, drivers: ["anthropic", "claude"] },
  {
    // the open weights run anywhere
    pattern: /^(gpt-(?!oss)|chatgpt-|o\d(-|$)|codex-|ft:gpt-|computer-use-)/i,
    drivers: ["openai"],
  },
];

const ALIAS = /^(opus|sonnet|haiku)$/i;

/** The drivers whose vendor has it; empty: its name does not tell. */
export function vendorsOf(model: string): readonly DriverName[] {
  return FAMILIES.find(({ pattern }) => pattern.test(model))?.drivers ?? [];
}

/** A word for the model that each driver has of a size: none of them refuses it. */
export function isSize(model: string): boolean {
  return findTier(model) !== undefined && !ALIAS.test(model);
}

/**
 * Whether a driver that is set up may be asked for it. `isNamed`: the user wrote the driver before it, so the server is to
 * say whether it has it; but a short name of one vendor means nothing to another.
 */
export function mayHave(driver: DriverName, model: string, isNamed: boolean, env: Env): boolean {
  if (driver === "interpreter" || driver === "script") return false;
  if (model === "" || isSize(model)) return true;
  const vendors = vendorsOf(model);
  if (vendors.length > 0)
    return vendors.includes(driver) || (isNamed && !ALIAS.test(model) && takesAnyId(driver, env));
  return takesAnyId(driver, env) || (isNamed && driver !== "claude");
}

/** Its server is not the vendor's: what models it has, only it knows. */
function takesAnyId(driver: DriverName, env: Env): boolean {
  switch (driver) {
    case "ollama":
      return true;
    case "openai":
      return isElsewhere(env.OPENAI_BASE_URL, "api.openai.com");
    case "anthropic":
      return isElsewhere(env.ANTHROPIC_BASE_URL, "api.anthropic.com");
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

/** Is `answered` what was asked for, perhaps by a fuller or shorter name (`opus`, `x-latest`, `x-20260101`, `vendor/x`)? */
export function isSameModel(asked: string, answered: string): boolean {
  const [one, other] = [plain(asked), plain(answered)];
  return one === "" || other === "" || other.includes(one) || one.includes(other);
}

function plain(id: string): string {
  return id
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/:.*$/, "")
    .replace(/-(latest|preview|\d{8}|\d{4}-\d{2}-\d{2})$/, "");
}
