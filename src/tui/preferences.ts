/** What the settings say of the terminal itself: the keys below `ui`, read from the daemon once a session is opened. */
import { codeOf } from "../abi/errors.ts";
import type { WireSetting } from "../abi/methods/settings.ts";
import type { ChatClient } from "../cli/chat/client.ts";

interface Preferences {
  readonly theme: string;
  readonly reducesMotion: boolean;
  readonly isVim: boolean;
  readonly notifies: boolean;
}

export const USUAL: Preferences = { theme: "auto", reducesMotion: false, isVim: false, notifies: true };

export function preferencesOf(settings: readonly WireSetting[]): Preferences {
  const value = (key: string): unknown =>
    settings.findLast((each) => each.key === key && each.ignored === undefined)?.value;
  const theme = value("ui.theme");
  return {
    theme: typeof theme === "string" ? theme : USUAL.theme,
    reducesMotion: value("ui.reduceMotion") === true,
    isVim: value("ui.vim") === true,
    notifies: value("ui.notify") !== "off",
  };
}

/** Whoever may not see settings, as a command of an agent, has the usual ones. */
export async function readPreferences(client: ChatClient, cwd: string): Promise<Preferences> {
  try {
    return preferencesOf((await client.request("settings.list", { cwd })).settings);
  } catch (error) {
    if (codeOf(error) === "PERMISSION") return USUAL;
    throw error;
  }
}

/** In the user's settings, for later. */
export async function keepPreference(
  { client, cwd }: { readonly client: ChatClient; readonly cwd: string },
  key: string,
  value: string | boolean,
): Promise<void> {
  await client.request("settings.set", { cwd, destination: "userSettings", key, value });
}
