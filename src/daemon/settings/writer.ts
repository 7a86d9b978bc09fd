/**
 * Writes the user's permanent answers into a settings file: it changes one value and keeps every other byte. The policy
 * is never written. One write at a time; a file that changed meanwhile is read once more.
 */

import { createHash } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Fault, messageOf } from "../../abi/errors.ts";
import type { PermissionUpdate } from "../../abi/permit/permission-update.ts";
import type { RuleDestination } from "../../abi/rules.ts";
import type { Settings } from "../../abi/settings/settings.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import type { AppliedUpdate, SettingsWriter } from "../../kernel/ports/settings.ts";
import type { WorkspaceTrust } from "../../kernel/ports/trust.ts";
import { excludeFromGit } from "../../lib/git-exclude.ts";
import { readRegularSync } from "../../lib/regular-file.ts";
import { withJsonValue, withoutJsonValue } from "../../lib/text/json-edit.ts";
import { noticeLine } from "../../wire/codec/error.ts";
import { syncMade, writeAtomically } from "../atomic-file.ts";
import { onlyNarrows } from "./folder-keys.ts";
import { isAbsent, MAX_SETTINGS_BYTES, readSettingsFile } from "./settings.ts";
import {
  fileStamp,
  findProjectRoot,
  localFile,
  projectFile,
  type SettingsPlaces,
  userFile,
} from "./sources.ts";
import { editOf } from "./update.ts";

export interface SettingsFilesOptions {
  readonly places: SettingsPlaces;
  readonly realPath: RealPath;
  readonly trust: WorkspaceTrust;
  /** Whether the workspace is trusted now. */
  readonly isTrusted: (cwd: string) => boolean;
  readonly warn: (line: string) => void;
  /** Called between reading and writing; for tests. */
  readonly beforeWrite?: (file: string) => void;
}

/** `value` undefined: the key is removed. */
interface ValueEdit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The file of a destination, and the project to which it applies. */
interface Target {
  readonly destination: RuleDestination;
  readonly root: string;
  readonly file: string;
}

const DESTINATIONS: ReadonlySet<string> = new Set<RuleDestination>([
  "userSettings",
  "projectSettings",
  "localSettings",
]);

export class SettingsFiles implements SettingsWriter {
  readonly #options: SettingsFilesOptions;

  constructor(options: SettingsFilesOptions) {
    this.#options = options;
  }

  /** The change itself is synchronous: two answers at the same time do not lose each other's rule. */
  async apply(update: PermissionUpdate, cwd: string): Promise<AppliedUpdate> {
    const { destination } = update;
    if (destination === "session") return { file: null };
    const { file, note } = this.change(destination, cwd, (settings) => {
      const edit = editOf(update, settings);
      return edit === null ? null : { path: ["permissions", edit.key], value: edit.value };
    });
    return { file, ...(note === undefined ? {} : { note }) };
  }

  /** Synchronous. `changed` false: the file already has the wanted value. */
  change(
    destination: RuleDestination,
    cwd: string,
    edit: (settings: Settings) => ValueEdit | null,
  ): { file: string; changed: boolean; note?: string } {
    if (!DESTINATIONS.has(destination))
      throw new Fault({ code: "INVALID", message: `not a place that is written: ${String(destination)}` });
    const { places, realPath } = this.#options;
    const root = findProjectRoot(realPath(cwd), places.home);
    const file = this.#fileOf(destination, root);
    const changed = this.#tryTwice({ destination, root, file }, edit);
    if (destination === "localSettings") this.#exclude(root);
    return destination === "userSettings" || this.#options.isTrusted(cwd)
      ? { file, changed }
      : {
          file,
          changed,
          note: noticeLine({
            message: `${file} allows nothing until you trust its folder`,
            fact: { kind: "untrusted", folder: root },
          }),
        };
  }

  #tryTwice(target: Target, edit: (settings: Settings) => ValueEdit | null): boolean {
    const { file } = target;
    try {
      const changed = this.#write(target, edit) ?? this.#write(target, edit);
      if (changed !== undefined) return changed;
    } catch (error) {
      throw error instanceof Fault ? error : failed(file, error);
    }
    throw new Fault({ code: "CONFLICT", message: `${file} is being changed by somebody else; try again` });
  }

  /** The user's file may be a link to elsewhere. PERMISSION: a project's file is a link. */
  #fileOf(destination: RuleDestination, root: string): string {
    const { places, realPath } = this.#options;
    if (destination === "userSettings") return realPath(userFile(places));
    const file = destination === "projectSettings" ? projectFile(root) : localFile(root);
    const real = realPath(file);
    if (real === file) return file;
    throw new Fault({
      code: "PERMISSION",
      message: `${file} is a link to ${real}; settings of a project are not written through links`,
    });
  }

  /** undefined: the file changed meanwhile. false: nothing to change. */
  #write(
    { destination, root, file }: Target,
    editOf: (settings: Settings) => ValueEdit | null,
  ): boolean | undefined {
    const { trust, beforeWrite } = this.#options;
    const stamp = fileStamp(file);
    const { settings, problems, digest } = readSettingsFile(file);
    const unread = digest === null ? problems[0] : undefined;
    if (unread !== undefined)
      throw new Fault({ code: "INVALID", message: `${unread}; fix the file first; nothing was written` });
    const edit = editOf(settings);
    if (edit === null) return false;
    const old = textOf(file);
    const text =
      edit.value === undefined ? withoutJsonValue(old, edit.path) : withJsonValue(old, edit.path, edit.value);
    if (text === old) return false;
    if (Buffer.byteLength(text) > MAX_SETTINGS_BYTES)
      throw new Fault({ code: "INVALID", message: `${file} would be over ${MAX_SETTINGS_BYTES} bytes` });
    const isUsers = destination === "userSettings";
    const made = mkdirSync(dirname(file), { recursive: true, ...(isUsers ? { mode: 0o700 } : {}) });
    beforeWrite?.(file);
    if (fileStamp(file) !== stamp) return undefined;
    writeAtomically(file, text, isUsers ? 0o600 : 0o644);
    if (made !== undefined) syncMade(dirname(file), made);
    if (!isUsers)
      trust.hasWritten?.(
        root,
        digest === null ? null : { path: file, digest, narrows: onlyNarrows({ settings, problems }) },
        {
          path: file,
          digest: digestOf(text),
        },
      );
    return true;
  }

  #exclude(root: string): void {
    try {
      const git = findGitDir(root);
      if (git !== null) excludeFromGit(git, LINE);
    } catch (error) {
      this.#options.warn(`settings: ${root}: .git/info/exclude could not be written: ${messageOf(error)}`);
    }
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function textOf(file: string): string {
  try {
    return readRegularSync(file, MAX_SETTINGS_BYTES).toString("utf8");
  } catch (error) {
    if (isAbsent(error)) return "";
    throw error;
  }
}

function failed(file: string, error: unknown): Fault {
  const { code } = error as { code?: unknown };
  const isRefused = code === "EACCES" || code === "EPERM" || code === "EROFS";
  return new Fault({
    code: isRefused ? "PERMISSION" : "UNAVAILABLE",
    message: `${file} could not be written: ${messageOf(error)}`,
    cause: error,
  });
}

/** Keeps the user's own settings of a project out of its repository. */
const LINE = "**/.crux/settings.local.json";

/** The git directory that all worktrees share (gitrepository-layout(5)). */
function findGitDir(root: string): string | null {
  for (let at = root; ; at = dirname(at)) {
    const mark = join(at, ".git");
    const stats = lstatSync(mark, { throwIfNoEntry: false });
    if (stats?.isDirectory()) return mark;
    if (stats?.isFile()) return commonDir(mark);
    if (at === "/") return null;
  }
}

/** The common directory of a worktree: its `.git` file names a folder, and that folder names the common one. */
function commonDir(mark: string): string | null {
  const named = /^gitdir: (.+)$/m.exec(firstLine(mark))?.[1];
  if (named === undefined) return null;
  const own = resolve(dirname(mark), named);
  const common = lstatSync(join(own, "commondir"), { throwIfNoEntry: false })?.isFile()
    ? resolve(own, firstLine(join(own, "commondir")).trim())
    : own;
  // the file may name any folder: only one created by git counts
  return ["HEAD", "objects"].every((name) => lstatSync(join(common, name), { throwIfNoEntry: false }))
    ? common
    : null;
}

function firstLine(file: string): string {
  return readRegularSync(file, 4096).toString("utf8").split("\n")[0] ?? "";
}
