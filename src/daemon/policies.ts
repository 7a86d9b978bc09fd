/**
 * One policy for each project, made of all settings files that bear on it, and made anew when one of them has changed: a deny
 * that a person has just written holds for the next call.
 */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { RealPath } from "../kernel/ports/host.ts";
import type { Permit } from "../kernel/ports/permit.ts";
import type { BroughtFile, WorkspaceTrust } from "../kernel/ports/trust.ts";
import { makePermit } from "../permit/policy.ts";
import { type MergedSettings, mergeSettings } from "./settings-merge.ts";
import {
  filesOf,
  findProjectRoot,
  type LoadedFile,
  loadFile,
  loadPolicy,
  type SettingsPlaces,
  stampOf,
} from "./settings-sources.ts";

/** Projects at a time; beyond, the one unused for longest is read again when it is needed. */
const MAX_PROJECTS = 64;

interface PoliciesOptions {
  readonly places: SettingsPlaces;
  /** Closed to every call: state, runtime directory. */
  readonly kernelPaths: readonly string[];
  readonly realPath: RealPath;
  readonly trust: WorkspaceTrust;
  readonly warn: (line: string) => void;
}

export interface Policy {
  readonly permit: Permit;
  readonly merged: MergedSettings;
  readonly root: string;
  readonly isTrusted: boolean;
}

interface Kept extends Policy {
  readonly files: readonly LoadedFile[];
  readonly stamp: string;
}

export class Policies {
  readonly #options: PoliciesOptions;
  readonly #byRoot = new Map<string, Kept>();
  readonly #told = new Set<string>();

  constructor(options: PoliciesOptions) {
    this.#options = options;
  }

  /** Synchronous: it stands before every call. Throws only where the host does; the gate then asks. */
  of(cwd: string): Policy {
    const { places, realPath } = this.#options;
    const root = findProjectRoot(realPath(cwd), places.home);
    const kept = this.#byRoot.get(root);
    const policy = kept !== undefined && this.#isCurrent(kept) ? kept : this.#read(root);
    this.#byRoot.delete(root);
    this.#byRoot.set(root, policy);
    for (const [oldest] of this.#byRoot) {
      if (this.#byRoot.size <= MAX_PROJECTS) break;
      this.#byRoot.delete(oldest);
    }
    return policy;
  }

  /** Reads all files again when they are next needed. */
  forget(): void {
    this.#byRoot.clear();
    this.#told.clear();
  }

  #isCurrent({ files, stamp, root, isTrusted }: Kept): boolean {
    if (stampOf(this.#options.places, files) !== stamp) return false;
    return this.#isTrusted(root, files) === isTrusted;
  }

  #isTrusted(root: string, files: readonly LoadedFile[]): boolean {
    return this.#options.trust.isTrusted(root, broughtBy(files));
  }

  #read(root: string): Kept {
    const { places, kernelPaths, realPath, warn } = this.#options;
    // the stamp comes first: what changes while it is read is read again
    const wanted = filesOf(places, root);
    const policy = loadPolicy(places);
    const stamp = stampOf(places, [...wanted, ...policy]);
    const files = [...wanted.map(loadFile), ...policy];
    const isTrusted = this.#isTrusted(root, files);
    const merged = mergeSettings(files, { root, isTrusted });
    const permit = makePermit({
      ...merged,
      projectRoot: root,
      isTrusted,
      home: places.home,
      kernelPaths: [...kernelPaths, places.policyDir],
      memoryPaths: [join(places.configDir, "memory")],
      realPath,
      foldsNames: foldsNames(root),
    });
    for (const line of [
      ...merged.policyProblems,
      ...merged.unreadable,
      ...merged.warnings,
      ...permit.warnings,
    ])
      this.#tellOnce(warn, line);
    return { permit, merged, root, isTrusted, files, stamp };
  }

  #tellOnce(warn: (line: string) => void, line: string): void {
    if (this.#told.has(line)) return;
    if (this.#told.size >= MAX_TOLD) this.#told.clear();
    this.#told.add(line);
    warn(`settings: ${line}`);
  }
}

/** Lines in the log of which no second one is written. */
const MAX_TOLD = 1000;

/** What a project brings: by content, so that a changed file is another. */
function broughtBy(files: readonly LoadedFile[]): readonly BroughtFile[] {
  return files.flatMap(({ source, path, digest }) =>
    (source === "projectSettings" || source === "localSettings") && digest !== null ? [{ path, digest }] : [],
  );
}

/**
 * Does the volume of a directory take names that differ in case alone for the same? By looking: the directory, or the nearest
 * above it with a letter in its name, under the same name in the other case.
 */
function foldsNames(dir: string): boolean {
  for (let at = dir; at !== "/"; at = dirname(at)) {
    const name = basename(at);
    const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase();
    if (other !== name) return isSame(at, join(dirname(at), other));
  }
  return process.platform === "darwin";
}

function isSame(a: string, b: string): boolean {
  try {
    const [one, two] = [statSync(a, { bigint: true }), statSync(b, { bigint: true })];
    return one.ino === two.ino && one.dev === two.dev;
  } catch {
    return false;
  }
}
