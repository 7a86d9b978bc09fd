/** The window of a model, as its card or the user has it. */
import type { WindowFacts } from "../abi/context.ts";
import type { ModelCard } from "../abi/llm.ts";
import type { Settings } from "../abi/settings/settings.ts";
import { LEAST_WINDOW } from "../lib/tokens/window.ts";

/** A shorter reply would be of no use. */
const LEAST_OUTPUT_TOKENS = 1_024;

/** Providers keep a prompt for an hour at most. */
const IDLE_MINUTES = 60;

type Sizes = Pick<ModelCard, "maxInputTokens" | "maxOutputTokens">;

/** Scripted models take any conversation; a test sets a window by the variable. */
export const SCRIPT_SIZES: Sizes = { maxInputTokens: 1_000_000, maxOutputTokens: 64_000 };

export function windowFacts(
  { maxInputTokens, maxOutputTokens }: Sizes,
  env: Readonly<Record<string, string>>,
  {
    micro,
    context,
    compaction,
    tokenTarget,
  }: Pick<Settings, "micro" | "context" | "compaction" | "tokenTarget"> = {},
): WindowFacts {
  const wanted = Number(env.CRUX_MAX_CONTEXT_TOKENS);
  const isValid = Number.isSafeInteger(wanted) && wanted >= LEAST_WINDOW;
  const compact = !isOn(env.CRUX_DISABLE_COMPACT);
  const auto = compact && !isOn(env.CRUX_DISABLE_AUTO_COMPACT);
  const most = Number(env.CRUX_MAX_OUTPUT_TOKENS);
  const output = Number.isSafeInteger(most) && most >= LEAST_OUTPUT_TOKENS ? { output: most } : {};
  const window = isValid ? wanted : maxInputTokens;
  const idleMinutes = micro?.idleMinutes ?? IDLE_MINUTES;
  const more = {
    ...(auto && idleMinutes > 0 ? { idleMinutes } : {}),
    ...(auto && context?.collapse === true ? { collapse: true as const } : {}),
    ...(auto && compaction?.sessionNotes === true ? { notes: true as const } : {}),
    ...(tokenTarget === true ? { targets: true as const } : {}),
  };
  return { window, maxOutput: maxOutputTokens, auto, compact, ...output, ...more };
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "no", "off"].includes(value.toLowerCase());
}
