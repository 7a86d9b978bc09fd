/**
 * Merges the settings of all sources. Rules are united, whatever their source. Of single values a later source
 * overrides an earlier one, and the policy overrides all. A directory's settings never set a mode, the sandbox, labels
 * or secrets, and widen nothing until the user trusts the directory.
 */
import { posix } from "node:path";
import type { PermissionMode } from "../../abi/process.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { SandboxSettings } from "../../abi/settings/rights.ts";
import type { Settings } from "../../abi/settings/settings.ts";
import { nearNames } from "../../lib/text/near-names.ts";
import type { LabelPolicy } from "../../permit/judge/label.ts";
import { findMode } from "../../permit/rules/mode.ts";
import { isShippedProtection, protectedNames } from "../../permit/rules/protected.ts";
import { rulesFromSettings } from "../../permit/rules/settings-rules.ts";
import { isBrought, settingsIn, takenFromFolder, unite } from "./folder-keys.ts";
import type { FileSource, LoadedFile } from "./sources.ts";

export interface MergedSettings {
  readonly rules: readonly RuleText[];
  readonly defaultMode: PermissionMode;
  readonly closedModes: readonly PermissionMode[];
  readonly additionalDirectories: readonly string[];
  readonly protection: { readonly added: readonly string[]; readonly removed: readonly string[] };
  readonly labels: Partial<LabelPolicy>;
  readonly sandbox: SandboxSettings;
  /** What counts of the files of the folder, without its rules. */
  readonly folder: Settings;
  /** Agents have a memory. */
  readonly hasMemory: boolean;
  /** The folder for the memory of projects; undefined: the usual one. */
  readonly memoryDirectory: string | undefined;
  /** Notes are taken of sessions by themselves. */
  readonly takesNotes: boolean;
  /** Notes are tidied by themselves. */
  readonly tidiesNotes: boolean;
  /** Problems that may have lost a deny: every call asks. */
  readonly unreadable: readonly string[];
  /** Problems of the policy: every call is refused. */
  readonly policyProblems: readonly string[];
  /** Messages for the user, one line each, without the problems. */
  readonly warnings: readonly string[];
}

const WORDS: Readonly<Record<FileSource, string>> = {
  userSettings: "user settings",
  projectSettings: "project settings",
  localSettings: "local settings",
  policySettings: "policy settings",
};

/** The workspace to which the settings apply; its own settings widen permissions only if the user trusts it. */
interface Workspace {
  readonly root: string;
  readonly isTrusted: boolean;
}

/** `files`: in order of precedence, the last wins. */
export function mergeSettings(files: readonly LoadedFile[], workspace: Workspace): MergedSettings {
  const warnings = files.flatMap(warningsOf);
  const warn = (line: string): void => void warnings.push(line);
  const own = files.filter(({ source }) => !isBrought(source));
  const whole = unite(all(files, "userSettings"), all(files, "policySettings")) as Settings;
  const isPolicy = ({ source }: LoadedFile) => source === "policySettings";
  const folder = takenFromFolder(files, workspace.isTrusted);
  const here = settingsIn(all(files, "userSettings"), folder, all(files, "policySettings"));
  return {
    rules: files.flatMap(({ settings, source }) => rulesFromSettings(settings, source)),
    defaultMode: startMode(whole.permissions?.defaultMode, warn),
    closedModes: closedModes(whole),
    additionalDirectories: files.flatMap((file) => directoriesOf(file, workspace, warn)),
    protection: protectionOf(own, warn),
    labels: labelsOf(own, warn),
    sandbox: whole.sandbox ?? {},
    folder,
    memoryDirectory: whole.autoMemoryDirectory,
    hasMemory: here.autoMemoryEnabled !== false,
    takesNotes: here.memory?.extract !== false,
    tidiesNotes: here.memory?.tidy !== false,
    unreadable: files.filter((file) => !isPolicy(file)).flatMap(problemsOf),
    policyProblems: files.filter(isPolicy).flatMap(problemsOf),
    warnings,
  };
}

function all(files: readonly LoadedFile[], from: FileSource): Settings {
  const found = files.filter(({ source }) => source === from);
  return found.reduce<Settings>((whole, { settings }) => unite(whole, settings) as Settings, {});
}

/** Bypass can be chosen only at the start of a run, never by a setting. */
function startMode(text: string | undefined, warn: (line: string) => void): PermissionMode {
  const mode = text === undefined ? "default" : findMode(text);
  if (mode !== undefined && mode !== "bypass") return mode;
  const why = mode === undefined ? `not a mode: ${text}` : "bypass is chosen at the start of a run only";
  warn(`permissions.defaultMode: ${why}; default is used`);
  return "default";
}

function closedModes({ permissions }: Settings): readonly PermissionMode[] {
  return [
    ...(permissions?.disableBypass === true ? (["bypass"] as const) : []),
    ...(permissions?.disableAutoMode === true ? (["auto"] as const) : []),
  ];
}

function directoriesOf(
  { settings, source, path }: LoadedFile,
  { root, isTrusted }: Workspace,
  warn: (line: string) => void,
): readonly string[] {
  const dirs = settings.permissions?.additionalDirectories ?? [];
  if (isBrought(source) && !isTrusted) return [];
  return dirs.flatMap((dir) => {
    if (/^(?:~$|~\/|\/)/.test(dir)) return [dir];
    if (isBrought(source)) return [posix.resolve(root, dir)];
    warn(`${path}: permissions.additionalDirectories: neither absolute nor ~/…: ${dir}; ignored`);
    return [];
  });
}

function protectionOf(files: readonly LoadedFile[], warn: (line: string) => void) {
  const entries = files.flatMap(({ settings, source, path }) =>
    (settings.permissions?.protect ?? []).map((text) => ({ text, source, path })),
  );
  const added = entries.filter(({ text }) => !text.startsWith("!"));
  const removed = entries.filter(({ text, source, path }) => {
    if (!text.startsWith("!")) return false;
    const why =
      source !== "userSettings"
        ? "only user settings remove"
        : isShippedProtection(text.slice(1))
          ? null
          : "no such protected path";
    if (why !== null) warn(`${path}: permissions.protect: ${why}: ${text}; ignored`);
    return why === null;
  });
  return { added: added.map(({ text }) => text), removed: removed.map(({ text }) => text.slice(1)) };
}

function labelsOf(files: readonly LoadedFile[], warn: (line: string) => void): Partial<LabelPolicy> {
  const found: { outward?: LabelPolicy["outward"]; exec?: LabelPolicy["exec"] } = {};
  for (const { settings, source, path } of files)
    for (const sink of ["outward", "exec"] as const) {
      const value = settings.labels?.[sink];
      // a list is read as rules (permit/rules/settings-rules.ts)
      if (value === undefined || typeof value !== "string") continue;
      if (value === "off" && source !== "userSettings")
        warn(`${path}: labels.${sink}: only user settings switch it off; ignored`);
      else found[sink] = value;
    }
  return found;
}

/** Whether the settings have only the label key that a trusted project may set. */
function isOutwardAlone({ labels = {} }: Settings): boolean {
  return Object.keys(labels).every((key) => key === "outward") && Array.isArray(labels.outward);
}

const OWN_KEYS = [
  "permissions",
  "autoMode",
  "useAutoModeDuringPlan",
  "sandbox",
  "labels",
  "secrets",
  "audit",
];
const PERMISSION_KEYS = [
  ...["allow", "ask", "deny", "drop_defaults", "defaultMode", "additionalDirectories", "protect"],
  ...["disableBypass", "disableAutoMode", "askTimeoutSeconds", "detachedTimeoutSeconds"],
];
const BROUGHT_KEYS = ["allow", "ask", "deny", "additionalDirectories"];

/** Warns about unknown keys: a deny under a mistyped key would be ignored unnoticed. */
function warningsOf({ settings, source, path }: LoadedFile): string[] {
  const keys = Object.keys(settings.permissions ?? {});
  const unknown = keys
    .filter((key) => !PERMISSION_KEYS.includes(key))
    .map((key) => `${path}: permissions.${key}: no such key${hint(key, PERMISSION_KEYS)}; ignored`);
  if (!isBrought(source)) return unknown;
  const ignored = [
    ...keys
      .filter((key) => PERMISSION_KEYS.includes(key) && !BROUGHT_KEYS.includes(key))
      .map((key) => `permissions.${key}`),
    ...Object.keys(settings).filter(
      (key) =>
        key !== "permissions" && OWN_KEYS.includes(key) && !(key === "labels" && isOutwardAlone(settings)),
    ),
  ];
  return [...unknown, ...ignored.map((key) => `${path}: ${key}: not taken from ${WORDS[source]}; ignored`)];
}

function hint(key: string, known: readonly string[]): string {
  const [near] = nearNames(key, known, 2);
  return near === undefined ? "" : ` (did you mean ${near}?)`;
}

/** The problems of a file, including invalid entries of `protect`, whose paths would be unprotected. */
function problemsOf({ settings, source, path, problems }: LoadedFile): readonly string[] {
  const entries = isBrought(source) ? [] : (settings.permissions?.protect ?? []);
  const odd = entries.filter((text) => !text.startsWith("!") && protectedNames(text) === null);
  const where = `INVALID ${path}: permissions.protect`;
  return [...problems, ...odd.map((text) => `${where}: not a path that can be protected: ${text}`)];
}
