import { findTier, type Tier } from "../cards.ts";

/** The environment variables that an instance depends on. */
export const GEMINI_ENV = [
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GEMINI_BASE_URL",
  "GEMINI_MODEL",
  "GEMINI_DEFAULT_OPUS_MODEL",
  "GEMINI_DEFAULT_SONNET_MODEL",
] as const;

type Env = Readonly<Record<string, string>>;

/** The model that the environment names for this size, or in place of no name; "": none. */
export function namedByEnv(env: Env, model: string): string {
  if (model === "" && env.GEMINI_MODEL) return env.GEMINI_MODEL;
  const bySize: Readonly<Record<Tier, string | undefined>> = {
    large: env.GEMINI_DEFAULT_OPUS_MODEL,
    mid: env.GEMINI_DEFAULT_SONNET_MODEL,
    small: undefined,
  };
  const size = findTier(model === "" ? "mid" : model);
  return (size === undefined ? undefined : bySize[size]) ?? "";
}
