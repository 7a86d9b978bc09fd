/**
 * The sources of settings: the user's file, the project's, the administrator's policy. A file is read again when its
 * inode or times have changed.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import type { RuleSource } from "../../abi/rules.ts";
import type { Settings } from "../../abi/settings/settings.ts";
import { isAbsent, readSettingsFile } from "./settings.ts";

export interface SettingsPlaces {
  /** The directory of the user's settings.json. */
  readonly configDir: string;
  /** The administrator's policy: settings.json, then the files of settings.d by name. */
  readonly policyDir: string;
  /** The only user who may own and write the policy; 0 except in tests. */
  readonly policyOwner: number;
  readonly home: string;
}

interface SourceFile {
  readonly source: FileSource;
  readonly path: string;
}

export type FileSource = Extract<
  RuleSource,
  "userSettings" | "projectSettings" | "localSettings" | "policySettings"
>;

export interface LoadedFile extends SourceFile {
  readonly settings: Settings;
  readonly problems: readonly string[];
  readonly digest: string | null;
}

/** The directory of the administrator's policy; the user cannot change it. */
export function policyDirOf(platform: NodeJS.Platform): string {
  return platform === "darwin" ? "/Library/Application Support/Crux" : "/etc/crux";
}

export function userFile({ configDir }: SettingsPlaces): string {
  return join(configDir, "settings.json");
}

export function projectFile(root: string): string {
  return join(root, ".crux/settings.json");
}

export function localFile(root: string): string {
  return join(root, ".crux/settings.local.json");
}

const MARKS = [".git", ".crux", ".claude"];

/**
 * The project root of a directory: the nearest directory, itself or above, with a project mark, but not the home
 * directory or one above it. Without such a mark, the directory itself.
 */
export function findProjectRoot(dir: string, home: string): string {
  for (let at = dir; at !== "/" && !isOrHolds(at, home); at = dirname(at))
    if (MARKS.some((mark) => existsSync(join(at, mark)))) return at;
  return dir;
}

function isOrHolds(dir: string, home: string): boolean {
  return home === dir || home.startsWith(`${dir}/`);
}

/**
 * Files in order of precedence, the last wins. Settings of other programs (`.claude`) rank lowest among those of the
 * project.
 */
export function filesOf(places: SettingsPlaces, root: string): readonly SourceFile[] {
  const own = join(places.configDir, "settings.json");
  const project = [join(root, ".claude/settings.json"), projectFile(root)].filter((path) => path !== own);
  return [
    { source: "userSettings", path: userFile(places) },
    ...project.map((path): SourceFile => ({ source: "projectSettings", path })),
    { source: "localSettings", path: localFile(root) },
  ];
}

export function loadFile(file: SourceFile): LoadedFile {
  return { ...file, ...readSettingsFile(file.path) };
}

/** The files of the policy, each with its problems; the problems of a folder are listed under the folder. */
export function loadPolicy({ policyDir, policyOwner }: SettingsPlaces): readonly LoadedFile[] {
  const isOwned = ({ uid, mode }: { uid: number; mode: number }): string | null =>
    uid !== policyOwner || (mode & 0o022) !== 0
      ? "the policy must belong to root and be writable by nobody else"
      : null;
  return policyPlaces(policyDir).map(({ path, isFolder, problem }): LoadedFile => {
    const file = { source: "policySettings", path } as const;
    const failed = (words: string): LoadedFile => ({
      ...file,
      settings: {},
      problems: [`INVALID ${path}: ${words}`],
      digest: null,
    });
    if (problem !== undefined) return failed(problem);
    if (!isFolder) return { ...file, ...readSettingsFile(path, isOwned) };
    const refusal = isOwned(statSync(path));
    return refusal === null ? { ...file, settings: {}, problems: [], digest: null } : failed(refusal);
  });
}

interface PolicyPlace {
  readonly path: string;
  readonly isFolder: boolean;
  readonly problem?: string;
}

/** The existing folders and files of the policy. A folder that cannot be read may contain a deny. */
function policyPlaces(dir: string): readonly PolicyPlace[] {
  const parts = join(dir, "settings.d");
  const [outer, inner] = [namesIn(dir), namesIn(parts)];
  if (outer === null) return [];
  const folders = [
    { path: dir, isFolder: true, ...problemOf(outer) },
    ...(inner === null ? [] : [{ path: parts, isFolder: true, ...problemOf(inner) }]),
  ];
  const names = Array.isArray(inner) ? inner.filter((name) => name.endsWith(".json")).sort() : [];
  const files = [join(dir, "settings.json"), ...names.map((name) => join(parts, name))];
  return [...folders, ...files.map((path) => ({ path, isFolder: false }))];
}

function problemOf(names: readonly string[] | Error): { problem?: string } {
  return names instanceof Error ? { problem: messageOf(names) } : {};
}

/** null: no such folder. */
function namesIn(dir: string): readonly string[] | Error | null {
  try {
    return readdirSync(dir);
  } catch (error) {
    return isAbsent(error) ? null : error instanceof Error ? error : new Error(String(error));
  }
}

/** A stamp that changes when any of the files or the policy folder changes. */
export function stampOf(places: SettingsPlaces, files: readonly { readonly path: string }[]): string {
  const { policyDir } = places;
  const all = [policyDir, join(policyDir, "settings.d"), join(policyDir, "settings.json")];
  return [...all, ...files.map(({ path }) => path)].map(fileStamp).join("|");
}

/** "": no such file; "?": it cannot be inspected. */
export function fileStamp(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined
      ? ""
      : `${stats.dev} ${stats.ino} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.size}`;
  } catch {
    return "?";
  }
}
