/** The settings of deferred tools, from the environment of the daemon. */
import { DEFAULT_WEIGHTS, type Weights } from "./rank.ts";

type Deferral =
  | { readonly kind: "on" | "off" }
  /** Deferred if the definitions take more than this share of the context window. */
  | { readonly kind: "auto"; readonly percent: number };

export interface DeferredSetting {
  readonly deferral: Deferral;
  readonly weights: Weights;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * `CRUX_TOOL_SEARCH`: unset, `true`: on; `false`: all inline; `auto`, `auto:N`: by size. Anything else counts as unset.
 */
export function deferredSetting(env: Env): DeferredSetting {
  const weights = {
    keyword: numberIn(env.CRUX_TOOL_SEARCH_WEIGHT_KEYWORD, DEFAULT_WEIGHTS.keyword),
    tfIdf: numberIn(env.CRUX_TOOL_SEARCH_WEIGHT_TFIDF, DEFAULT_WEIGHTS.tfIdf),
    minScore: numberIn(env.CRUX_TOOL_SEARCH_MIN_SCORE, DEFAULT_WEIGHTS.minScore),
  };
  const isOff = env.CRUX_DISABLE_EXPERIMENTAL === "1";
  return { deferral: isOff ? { kind: "off" } : deferralOf(env.CRUX_TOOL_SEARCH ?? ""), weights };
}

const DEFAULT_PERCENT = 10;

function deferralOf(text: string): Deferral {
  if (text === "false") return { kind: "off" };
  if (text === "auto") return { kind: "auto", percent: DEFAULT_PERCENT };
  const percent = /^auto:(\d{1,3})$/.exec(text)?.[1];
  if (percent === undefined || Number(percent) > 100) return { kind: "on" };
  if (Number(percent) === 0) return { kind: "on" };
  return Number(percent) === 100 ? { kind: "off" } : { kind: "auto", percent: Number(percent) };
}

function numberIn(text: string | undefined, fallback: number): number {
  const value = Number(text);
  return text === undefined || text.trim() === "" || !Number.isFinite(value) || value < 0 ? fallback : value;
}
