/**
 * `crux config`: shows each value in each settings file and which one counts, and changes one value after checking it.
 */
import { Fault } from "../../abi/errors.ts";
import type { Fact } from "../../abi/fact.ts";
import type { RuleDestination } from "../../abi/rules.ts";
import { SETTING_DEFAULTS, SETTING_KEYS } from "../../abi/settings/keys.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import type { NewSetting, SettingsDesk, SettingView } from "../../kernel/ports/settings.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import { findMode } from "../../permit/rules/mode.ts";
import { parseRule } from "../../permit/rules/rule.ts";
import { isBrought, isLimit, valueAt, whyNotTaken } from "./folder-keys.ts";
import { parseSettings } from "./settings.ts";
import {
  filesOf,
  findProjectRoot,
  type LoadedFile,
  loadFile,
  loadPolicy,
  type SettingsPlaces,
} from "./sources.ts";
import type { SettingsFiles } from "./writer.ts";

interface SettingsDeskOptions {
  readonly places: SettingsPlaces;
  readonly realPath: RealPath;
  readonly files: SettingsFiles;
  readonly isTrusted: (cwd: string) => boolean;
  /** Called after the user's file was written. */
  readonly reload: () => void;
}

const SOURCES = {
  userSettings: "user",
  projectSettings: "project",
  localSettings: "local",
  policySettings: "policy",
} as const;
const RULES = ["permissions.allow", "permissions.ask", "permissions.deny"];

export function settingsDesk(options: SettingsDeskOptions): SettingsDesk {
  return {
    list: (cwd, key) => list(options, cwd, key),
    set: async (cwd, destination, setting) => {
      const path = checkedPath(destination, setting);
      const { value } = setting;
      const done = options.files.change(destination, cwd, (settings) =>
        JSON.stringify(valueAt(settings, path)) === JSON.stringify(value) ? null : { path, value },
      );
      if (destination === "userSettings" && done.changed) options.reload();
      return done;
    },
  };
}

function list({ places, realPath, isTrusted }: SettingsDeskOptions, cwd: string, key: string | undefined) {
  const path = key === undefined ? [] : keysBelow(key).length > 0 ? key.split(".") : pathOf(key);
  const root = findProjectRoot(realPath(cwd), places.home);
  const files = [...filesOf(places, root).map(loadFile), ...loadPolicy(places)];
  const trusted = isTrusted(cwd);
  const keys =
    key === undefined
      ? SETTING_KEYS
      : path.join(".") === key && keysBelow(key).length > 0
        ? keysBelow(key)
        : [key];
  const settings = keys.flatMap((each) => viewsOf(each, files, trusted));
  return { settings, problems: files.flatMap(({ problems }) => problems) };
}

/** The values of one key: the default first, then file by file. */
function viewsOf(key: string, files: readonly LoadedFile[], isTrusted: boolean): readonly SettingView[] {
  const own = valueAt(files.find(({ source }) => source === "userSettings")?.settings, pathOf(key));
  const found = files.flatMap(({ settings, source, path }): SettingView[] => {
    const value = valueAt(settings, pathOf(key));
    if (value === undefined) return [];
    const ignored = whyIgnored({ key, value }, source, { isTrusted, own });
    return [{ key, value, source: SOURCES[source], file: path, ...(ignored === null ? {} : { ignored }) }];
  });
  const last = winnerOf(key, found);
  const views = found.map((view, at) =>
    view.ignored === undefined && at !== last && !Array.isArray(view.value)
      ? { ...view, ignored: `${found[last]?.source ?? ""} settings say otherwise` }
      : view,
  );
  return last >= 0 || !Object.hasOwn(SETTING_DEFAULTS, key)
    ? views
    : [{ key, value: SETTING_DEFAULTS[key], source: "default" }, ...views];
}

/** The place of the value that counts, as settingsIn() finds it: the last, but of limits the least. -1: there is none. */
function winnerOf(key: string, found: readonly SettingView[]): number {
  const counting = [...found.entries()].filter(([, { ignored }]) => ignored === undefined);
  const isFolders = ({ source }: SettingView) => source === "project" || source === "local";
  const own = counting.findLast(([, view]) => !isFolders(view)) ?? [];
  const last = counting.at(-1)?.[0] ?? -1;
  if (!isLimit(key)) return last;
  const limits = counting.filter(([at, view]) => at === own[0] || isFolders(view));
  return limits.sort(([, a], [, b]) => Number(a.value) - Number(b.value))[0]?.[0] ?? last;
}

function whyIgnored(
  { key, value }: NewSetting,
  source: LoadedFile["source"],
  here: { readonly isTrusted: boolean; readonly own: unknown },
): string | null {
  if (!isBrought(source)) return null;
  const why = whyNotTaken(key, value, here);
  if (why === "key") return `not taken from ${SOURCES[source]} settings`;
  if (why === "trust") return "this folder is not trusted";
  return why && `${SOURCES[source]} settings can ${why.words}`;
}

/** The path of the key in a file. INVALID: the file may not set this key, or not to this value. */
function checkedPath(destination: RuleDestination, { key, value }: NewSetting): readonly string[] {
  const path = settable(key);
  if (value === undefined) return path;
  const why = destination === "userSettings" ? null : whyNotTaken(key, value, { isTrusted: true });
  if (why === "key")
    throw invalid(`${key} is not taken from the settings of a folder`, { kind: "own_setting", key });
  check(key, path, value);
  if (typeof why === "object" && why !== null)
    throw invalid(`${key}: the settings of a folder can ${why.words}`);
  return path;
}

/** INVALID: the key does not accept the value; the message says what it accepts. */
function check(key: string, path: readonly string[], value: unknown): void {
  const whole = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  const [problem] = parseSettings(whole, key).problems;
  if (problem !== undefined) throw invalid(problem.replace(/^INVALID /, ""));
  if (key === "permissions.defaultMode") {
    const mode = findMode(String(value));
    if (mode === undefined) throw invalid(`not a mode: ${String(value)}`);
    if (mode === "bypass") throw invalid("bypass is chosen at the start of a run, never in settings");
  }
  if (RULES.includes(key))
    for (const text of value as readonly string[]) {
      const behavior = key.slice("permissions.".length) as "allow" | "ask" | "deny";
      const { match } = parseRule({ source: "userSettings", behavior, text });
      if (match.kind === "malformed" || (match.kind === "untold" && behavior === "allow"))
        throw invalid(`not a rule: ${JSON.stringify(text)}`);
    }
}

function settable(key: string): readonly string[] {
  const below = keysBelow(key);
  const hint = below.slice(0, 5).join(", ");
  if (hint !== "") throw new Fault({ code: "INVALID", message: `${key} holds several settings`, hint });
  return pathOf(key);
}

function keysBelow(key: string): readonly string[] {
  return SETTING_KEYS.filter((each) => each.startsWith(`${key}.`));
}

/** The path of a key. Names below `models` and `secrets.passEnv` may contain dots. NOT_FOUND: no such key. */
function pathOf(key: string): readonly string[] {
  if (SETTING_KEYS.some((each) => each === key)) return key.split(".");
  const model = /^models\.(.+)\.price(?:\.(input|output|cacheRead|cacheWrite))?$/.exec(key);
  if (model !== null)
    return ["models", model[1] ?? "", "price", ...(model[2] === undefined ? [] : [model[2]])];
  const program = /^secrets\.passEnv\.(.+)$/.exec(key);
  if (program !== null) return ["secrets", "passEnv", program[1] ?? ""];
  const near = nearNames(key, SETTING_KEYS, (each) => Math.max(2, Math.ceil(each.length / 4)));
  const last = SETTING_KEYS.filter((each) => each.split(".").at(-1) === key);
  const [first] = [...last, ...near];
  throw new Fault({
    code: "NOT_FOUND",
    message: `no such setting: ${key}`,
    fact: { kind: "no_setting", near: first ?? null },
  });
}

function invalid(message: string, fact?: Fact): Fault {
  return new Fault({ code: "INVALID", message, fact });
}
