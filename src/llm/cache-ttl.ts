/** How long prompts are cached by servers that are told what to cache. Pure. */
import type { ModelCard } from "../abi/llm.ts";
import type { AttemptRequest, CacheTtl } from "./driver.ts";
import type { ModelSettings } from "./own-models.ts";

type Env = Readonly<Record<string, string>>;

/** The words in names of models for which caching can be turned off. */
const FAMILIES = ["haiku", "sonnet", "opus"] as const;

/** What the settings say of requests of a source: `<purpose>:<agent>`, as `main:reviewer`; a `*` at the end of an entry stands for any rest. */
export function wantedTtl(
  { cacheTtl, promptCache }: Pick<ModelSettings, "cacheTtl" | "promptCache">,
  { purpose }: Pick<AttemptRequest, "purpose">,
  agent: string,
): "5m" | "1h" | undefined {
  const source = `${purpose}:${agent}`;
  const isLong = promptCache?.longTtlSources?.some((each) =>
    each.endsWith("*") ? source.startsWith(each.slice(0, -1)) : source === each,
  );
  return isLong === true ? "1h" : cacheTtl;
}

/** The variable before the setting, each only as far as the model has it. */
export function cacheTtlOf(card: ModelCard, env: Env, setting: "5m" | "1h" | undefined): CacheTtl {
  if (card.supports.cache !== "explicit" || isOn(env.CRUX_DISABLE_PROMPT_CACHING)) return "off";
  const family = FAMILIES.find((each) => card.id.includes(each));
  if (family !== undefined && isOn(offBy(family, env))) return "off";
  const isLong = isOn(env.CRUX_PROMPT_CACHE_1H) || setting === "1h";
  return isLong && card.supports.cacheTtl1h === true ? "1h" : "5m";
}

function offBy(family: (typeof FAMILIES)[number], env: Env): string | undefined {
  switch (family) {
    case "haiku":
      return env.CRUX_DISABLE_PROMPT_CACHING_HAIKU;
    case "sonnet":
      return env.CRUX_DISABLE_PROMPT_CACHING_SONNET;
    case "opus":
      return env.CRUX_DISABLE_PROMPT_CACHING_OPUS;
  }
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}
