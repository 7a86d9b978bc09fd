/** What the settings say of the terminal itself: the keys below `ui`, read from the daemon once a session is opened. */
import { codeOf } from "../abi/errors.ts";
import type { WireSetting } from "../abi/methods/settings.ts";
import type { ChatClient } from "../cli/chat/client.ts";
import { LANGUAGES } from "../cli/screen/text/language.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import type { Appearance } from "./appearance.ts";

export interface StatusProgram {
  readonly command: string;
  /** The folder brings it: what it names there may have been written by an agent since the user agreed to it. */
  readonly isBrought: boolean;
  /** Blank columns before it. */
  readonly padding: number;
  /** undefined: it runs only when something changes. */
  readonly refreshMs: number | undefined;
}

export interface Preferences {
  readonly theme: string;
  /** A language, or whatever else leaves it to the environment. */
  readonly language: unknown;
  readonly reducesMotion: boolean;
  readonly isVim: boolean;
  readonly notifies: boolean;
  readonly notifiesDesktop: boolean;
  /** "untrusted": the folder brings one that its user has not agreed to. */
  readonly statusLine: StatusProgram | "untrusted" | undefined;
  readonly addedDirs: readonly string[];
}

export const USUAL: Preferences = {
  ...{
    theme: "auto",
    language: "auto",
    reducesMotion: false,
    isVim: false,
    notifies: true,
    notifiesDesktop: false,
  },
  ...{ statusLine: undefined, addedDirs: [] },
};
/** The shortest time between two runs of a status line, in seconds. */
const SHORTEST_S = 1;

export function preferencesOf(settings: readonly WireSetting[]): Preferences {
  const value = (key: string): unknown =>
    settings.findLast((each) => each.key === key && each.ignored === undefined)?.value;
  const theme = value("ui.theme");
  return {
    theme: typeof theme === "string" ? theme : USUAL.theme,
    language: value("ui.language"),
    reducesMotion: value("ui.reduceMotion") === true,
    isVim: value("ui.vim") === true,
    notifies: value("ui.notify") !== "off",
    notifiesDesktop: value("ui.notify") === "desktop",
    statusLine: statusLineOf(settings, value),
    addedDirs: settings
      .filter((each) => each.key === "permissions.additionalDirectories" && each.ignored === undefined)
      .flatMap((each) => (Array.isArray(each.value) ? each.value.map(String) : [])),
  };
}

function statusLineOf(
  settings: readonly WireSetting[],
  value: (key: string) => unknown,
): Preferences["statusLine"] {
  const all = settings.filter(({ key }) => key === "statusLine.command");
  const set = all.findLast(({ ignored }) => ignored === undefined);
  const command = set?.value;
  if (typeof command !== "string") return all.length > 0 ? "untrusted" : undefined;
  const every = Number(value("statusLine.refreshInterval") ?? 0);
  return {
    command,
    isBrought: set?.source === "project" || set?.source === "local",
    padding: Number(value("statusLine.padding") ?? 0),
    refreshMs: every > 0 ? Math.max(SHORTEST_S, every) * 1000 : undefined,
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

export interface Choosing {
  readonly client: ChatClient;
  readonly cwd: string;
  readonly words: Phrases;
  readonly appearance: Pick<Appearance, "names" | "choose">;
  say(text: string, level?: "error"): void;
  speak(language: string): Promise<void>;
  redraw(): void;
}

/** For now and later; "": only tells what there is. */
export async function chooseTheme(app: Choosing, name: string): Promise<void> {
  const { words, appearance } = app;
  const names = appearance.names().join(", ");
  if (name === "") return app.say(words.act.themes(names));
  const { isKnown, problems } = appearance.choose(name);
  if (!isKnown) return app.say(words.act.noTheme(name, names), "error");
  for (const problem of problems) app.say(problem, "error");
  app.redraw();
  await keepPreference(app, "ui.theme", name);
}

/** As above; "auto": the language of the environment. */
export async function chooseLanguage(app: Choosing, name: string): Promise<void> {
  const { act, language } = app.words;
  const names = [...LANGUAGES, "auto"];
  if (name === "") return app.say(act.languages(language, names.join(", ")));
  if (!names.includes(name)) return app.say(act.noLanguage(name, names.join(", ")), "error");
  await app.speak(name);
  app.redraw();
  await keepPreference(app, "ui.language", name);
}
