/**
 * What the user wants of the screen before anything is on it. The client reads it itself: the first frame waits for no daemon.
 * `ui` is the user's own, so one file says it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configDir, type Environment } from "../../lib/paths.ts";

interface UiAtStart {
  /** Lines, without boxes and redrawing. */
  readonly isAccessible: boolean;
  /** The conversation has the whole screen. */
  readonly isWhole: boolean;
}

export function uiAtStart(env: Environment): UiAtStart {
  const { accessible, screen } = uiOf(join(configDir(env, env.HOME ?? ""), "settings.json"));
  return {
    isAccessible: env.CRUX_ACCESSIBLE === "1" || accessible === true,
    isWhole: screen === "full",
  };
}

/** What is wrong in the file is reported by the daemon, which reads it too. */
function uiOf(file: string): { readonly accessible?: unknown; readonly screen?: unknown } {
  try {
    const { ui } = JSON.parse(readFileSync(file, "utf8")) as { ui?: unknown };
    return typeof ui === "object" && ui !== null ? ui : {};
  } catch {
    return {};
  }
}
