/**
 * What the user wants of the screen before anything is on it. The client reads it itself: the first frame waits for no daemon.
 * `ui` is the user's own, so one file says it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configDir, type Environment } from "../../lib/paths.ts";
import { type Language, languageFor } from "../screen/text/language.ts";

interface UiAtStart {
  /** Lines, without boxes and redrawing. */
  readonly isAccessible: boolean;
  /** The conversation has the whole screen. */
  readonly isWhole: boolean;
  readonly language: Language;
}

export function uiAtStart(env: Environment): UiAtStart {
  const { accessible, screen, language } = uiOf(join(configDir(env, env.HOME ?? ""), "settings.json"));
  return {
    isAccessible: env.CRUX_ACCESSIBLE === "1" || accessible === true,
    isWhole: screen === "full",
    language: languageFor(language, env),
  };
}

/** What is wrong in the file is reported by the daemon, which reads it too. */
function uiOf(file: string): Readonly<Record<string, unknown>> {
  try {
    const { ui } = JSON.parse(readFileSync(file, "utf8")) as { ui?: unknown };
    return typeof ui === "object" && ui !== null ? { ...ui } : {};
  } catch {
    return {};
  }
}
