/**
 * What the settings of a folder may say, key by key: they come with whatever was cloned, so that they may take away, and
 * set a value of their own only once the user trusts the folder. Keys that are not listed are not taken from a folder.
 */
import { SETTING_DEFAULTS } from "../../abi/settings/keys.ts";
import type { Settings } from "../../abi/settings/settings.ts";
import type { LoadedFile } from "./sources.ts";

/** `only`: no other value. `less`: a number at most the user's; of `sooner` 0 is never. `trusted`: any value, once the folder is trusted. */
type May = "any" | "trusted" | "less" | "sooner" | { readonly only: boolean | number };

const OFF = { only: false } as const;

const FOLDER_KEYS: Readonly<Record<string, May>> = {
  "agents.autoBackgroundMs": "trusted",
  "agents.builtins": "trusted",
  "agents.disableBackground": "trusted",
  "agents.fork": "trusted",
  autoMemoryEnabled: OFF,
  "budget.children": "less",
  "budget.concurrent": "less",
  "budget.depth": "less",
  "budget.steps": "less",
  "budget.tokens": "less",
  "budget.usd": "less",
  "budget.wallMs": "less",
  cacheTtl: "trusted",
  "compaction.sessionNotes": OFF,
  "context.collapse": OFF,
  "context.snip": OFF,
  costReminderUsd: "sooner",
  disableSkillShell: { only: true },
  effort: "trusted",
  fallbackModel: "trusted",
  maxBudgetUsd: "less",
  "memory.extract": OFF,
  "memory.tidy": OFF,
  "micro.idleMinutes": { only: 0 },
  mode: "trusted",
  model: "trusted",
  "permissions.additionalDirectories": "trusted",
  "permissions.allow": "trusted",
  "permissions.ask": "any",
  "permissions.deny": "any",
  "promptCache.longTtlSources": "trusted",
  "skills.disabled": "any",
  "statusLine.command": "trusted",
  "statusLine.padding": "any",
  "statusLine.refreshInterval": "any",
  "statusLine.type": "any",
  "teams.enabled": OFF,
  tokenTarget: OFF,
};

/** Of a key that a folder may set: under which condition, in words for the documentation. undefined: it may not. */
export function folderTerms(key: string): string | undefined {
  const may = FOLDER_KEYS[key];
  if (may === undefined || may === "any") return may && "";
  if (may === "trusted") return "once the folder is trusted";
  return isLower(may) ? "only less than yours" : `only \`${String(may.only)}\``;
}

/** Whether of the values of the user, the folder and the policy the least counts. */
export function isLimit(key: string): boolean {
  return FOLDER_KEYS[key] === "less";
}

/** Why a value in a file of a folder has no effect: the key, the missing trust, or the value. */
type NotTaken = "key" | "trust" | { readonly words: string };

/** null: it has an effect. `own`: the value that the user has. */
export function whyNotTaken(
  key: string,
  value: unknown,
  { isTrusted, own }: { readonly isTrusted: boolean; readonly own?: unknown },
): NotTaken | null {
  const may = FOLDER_KEYS[key];
  if (may === undefined) return "key";
  if (may === "trusted") return isTrusted ? null : "trust";
  if (isLower(may)) return limitOf(key, own) > limitOf(key, value) ? null : { words: "only lower it" };
  if (may === "any" || may.only === value) return null;
  return { words: may.only === false ? "only turn it off" : `only set it to ${String(may.only)}` };
}

/**
 * Whether a file of a folder can only take away, and so holds without trust as a whole: no other key, no invalid value,
 * nothing that would need trust.
 */
export function onlyNarrows({ settings, problems }: Pick<LoadedFile, "settings" | "problems">): boolean {
  return problems.length === 0 && narrows(settings, []);
}

function narrows(value: unknown, path: readonly string[]): boolean {
  const key = path.join(".");
  if (Object.hasOwn(FOLDER_KEYS, key))
    return (
      !key.startsWith("statusLine.") && whyNotTaken(key, value, { isTrusted: false, own: Infinity }) === null
    );
  const isKnown = path.length === 0 || Object.keys(FOLDER_KEYS).some((each) => each.startsWith(`${key}.`));
  if (!isKnown || !isRecord(value)) return false;
  return Object.entries(value).every(
    ([name, inner]) => /^\w+$/.test(name) && narrows(inner, [...path, name]),
  );
}

function isLower(may: May): may is "less" | "sooner" {
  return may === "less" || may === "sooner";
}

/** Of a setting that is absent, its default. */
function limitOf(key: string, value: unknown): number {
  if (FOLDER_KEYS[key] !== "sooner") return Number(value ?? Infinity);
  return Number(value ?? SETTING_DEFAULTS[key] ?? 0) || Infinity;
}

export function isBrought(source: LoadedFile["source"]): boolean {
  return source === "projectSettings" || source === "localSettings";
}

/** What counts of the files of a folder. Of those of other programs only rules do, which are read elsewhere. */
export function takenFromFolder(files: readonly LoadedFile[], isTrusted: boolean): Settings {
  let taken: Settings = {};
  for (const { settings, source, path } of files)
    if (isBrought(source) && !path.endsWith("/.claude/settings.json"))
      for (const key of Object.keys(FOLDER_KEYS)) {
        const value = valueAt(settings, key.split("."));
        if (value === undefined || whyNotTaken(key, value, { isTrusted, own: Infinity }) !== null) continue;
        taken = unite(taken, nested(key, value)) as Settings;
      }
  return taken;
}

/** The settings that apply in a folder: of single values the policy's counts, then the folder's; of limits the least. */
export function settingsIn(own: Settings, folder: Settings, policy: Settings): Settings {
  const sources = [own, folder, policy];
  let all = sources.reduce((whole, each) => unite(whole, each) as Settings);
  for (const [key, may] of Object.entries(FOLDER_KEYS))
    if (isLower(may) && valueAt(folder, key.split(".")) !== undefined) {
      const given = [folder, unite(own, policy)].map((each) => limitOf(key, valueAt(each, key.split("."))));
      all = unite(all, nested(key, Math.min(...given))) as Settings;
    }
  return all;
}

/** Merges objects by key and lists without duplicates; of other values the later one wins. */
export function unite(a: unknown, b: unknown): unknown {
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b.filter((item) => !a.includes(item))];
  if (!isRecord(a) || !isRecord(b)) return b;
  const entries = Object.entries(b).map(([key, value]) => [
    key,
    Object.hasOwn(a, key) ? unite(a[key], value) : value,
  ]);
  return { ...a, ...Object.fromEntries(entries) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object that has just this value, at the path of the key. */
function nested(key: string, value: unknown): unknown {
  return key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
}

export function valueAt(settings: unknown, path: readonly string[]): unknown {
  let value = settings;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}
