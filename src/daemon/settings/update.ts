/** Computes the new value of a setting from an update; the file itself is written elsewhere. */
import { posix } from "node:path";
import { Fault } from "../../abi/errors.ts";
import type { PermissionUpdate } from "../../abi/permit/permission-update.ts";
import type { Settings } from "../../abi/settings/settings.ts";
import { parseRule } from "../../permit/rules/rule.ts";

/** One key below `permissions` and its new value. */
interface SettingsEdit {
  readonly key: "allow" | "ask" | "deny" | "defaultMode" | "additionalDirectories";
  readonly value: unknown;
}

const MAX_RULES = 2000;

/** null: the settings need no change. INVALID: not a rule, or a mode that no file may set. */
export function editOf(update: PermissionUpdate, settings: Settings): SettingsEdit | null {
  const { permissions = {} } = settings;
  switch (update.type) {
    case "addRules":
      checkRules(update);
      return listEdit(update.behavior, permissions[update.behavior], (old) => [...old, ...update.rules]);
    case "replaceRules":
      checkRules(update);
      return listEdit(update.behavior, permissions[update.behavior], () => update.rules);
    case "removeRules":
      return listEdit(update.behavior, permissions[update.behavior], without(update.rules));
    case "setMode":
      return modeEdit(update, permissions.defaultMode);
    case "addDirectories": {
      for (const dir of update.directories) checkDirectory(dir);
      const added = (old: readonly string[]) => [...old, ...update.directories];
      return listEdit("additionalDirectories", permissions.additionalDirectories, added);
    }
    case "removeDirectories":
      return listEdit(
        "additionalDirectories",
        permissions.additionalDirectories,
        without(update.directories),
      );
  }
}

const without = (gone: readonly string[]) => (old: readonly string[]) =>
  old.filter((each) => !gone.includes(each));

function listEdit(
  key: SettingsEdit["key"],
  old: readonly string[] = [],
  change: (old: readonly string[]) => readonly string[],
): SettingsEdit | null {
  const value = [...new Set(change(old))];
  if (value.length > MAX_RULES) throw invalid(`permissions.${key}: more than ${MAX_RULES} entries`);
  const isSame = value.length === old.length && value.every((each, i) => each === old[i]);
  return isSame ? null : { key, value };
}

function modeEdit(
  { destination, mode }: Extract<PermissionUpdate, { type: "setMode" }>,
  old: string | undefined,
): SettingsEdit | null {
  if (destination !== "userSettings")
    throw invalid("a mode is kept in the user's settings only: a directory sets none");
  if (mode === "bypass") throw invalid("bypass is chosen at the start of a run, never in settings");
  return mode === old ? null : { key: "defaultMode", value: mode };
}

function checkRules({
  rules,
  behavior,
}: Extract<PermissionUpdate, { rules: string[]; behavior: string }>): void {
  for (const text of rules) {
    const { match } = parseRule({ source: "userSettings", behavior, text });
    if (match.kind === "malformed" || (match.kind === "untold" && behavior === "allow"))
      throw invalid(`not a rule: ${JSON.stringify(text)}`);
  }
}

function checkDirectory(dir: string): void {
  const isPlain = /^(?:~$|~\/|\/)/.test(dir) && !dir.includes("\0") && posix.normalize(dir) !== "/";
  if (!isPlain) throw invalid(`not a directory to add: ${JSON.stringify(dir)}; name it from / or ~/`);
}

function invalid(message: string): Fault {
  return new Fault({ code: "INVALID", message });
}
