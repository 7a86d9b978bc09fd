/**
 * One policy per project, made of all settings files that apply to it and rebuilt when one of them changes: a deny rule
 * that the user has just written applies to the next call.
 */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Fault } from "../abi/errors.ts";
import type { RealPath } from "../kernel/ports/host.ts";
import type { Permit } from "../kernel/ports/permit.ts";
import type { BroughtFile, WorkspaceTrust } from "../kernel/ports/trust.ts";
import { makePermit } from "../permit/policy.ts";
import { type MemoryFolders, memoryFolders, movedTo } from "./memory/memory-places.ts";
import { isBrought, onlyNarrows } from "./settings/folder-keys.ts";
import { type MergedSettings, mergeSettings } from "./settings/merge.ts";
import {
  filesOf,
  findProjectRoot,
  type LoadedFile,
  loadFile,
  loadPolicy,
  type SettingsPlaces,
  stampOf,
} from "./settings/sources.ts";

/** Projects kept at a time; beyond that, the least recently used one is read again when needed. */
const MAX_PROJECTS = 64;

interface PoliciesOptions {
  readonly places: SettingsPlaces;
  /** State and runtime directory, closed to every call. */
  readonly kernelPaths: readonly string[];
  /** Folders of skills outside of projects. */
  readonly skillPaths: readonly string[];
  readonly realPath: RealPath;
  readonly trust: WorkspaceTrust;
  /** The folder for the memory of projects that the environment names. */
  readonly memoryPath?: string | undefined;
  readonly warn: (line: string) => void;
}

export interface Policy {
  readonly permit: Permit;
  readonly merged: MergedSettings;
  readonly root: string;
  readonly isTrusted: boolean;
  /** Also where it is off. A fault: it cannot be where the user wants it. */
  readonly memory: MemoryFolders | Fault;
}

interface Kept extends Policy {
  readonly files: readonly LoadedFile[];
  readonly brought: readonly BroughtFile[];
  readonly stamp: string;
}

export class Policies {
  readonly #options: PoliciesOptions;
  readonly #byRoot = new Map<string, Kept>();
  readonly #told = new Set<string>();

  constructor(options: PoliciesOptions) {
    this.#options = options;
  }

  /** Synchronous, since it runs before every call. Throws only file system errors; the gate then asks. */
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

  /** Drops all policies, so that all files are read again when next needed. */
  forget(): void {
    this.#byRoot.clear();
    this.#told.clear();
  }

  #isCurrent({ files, brought, stamp, root, isTrusted }: Kept): boolean {
    if (stampOf(this.#options.places, files) !== stamp) return false;
    return this.#options.trust.isTrusted(root, brought) === isTrusted;
  }

  #read(root: string): Kept {
    const { places, kernelPaths, skillPaths, realPath, trust, warn } = this.#options;
    // the stamp is taken first: a file that changes while it is read is read again
    const wanted = filesOf(places, root);
    const policy = loadPolicy(places);
    const stamp = stampOf(places, [...wanted, ...policy]);
    const files = [...wanted.map(loadFile), ...policy];
    const brought = broughtBy(files);
    const isTrusted = trust.isTrusted(root, brought);
    const merged = mergeSettings(files, { root, isTrusted });
    const memory = this.#memoryOf(root, merged);
    const isKept = merged.hasMemory && !(memory instanceof Fault);
    const folders = isKept ? memory : undefined;
    const permit = makePermit({
      ...merged,
      projectRoot: root,
      isTrusted,
      home: places.home,
      kernelPaths: [...kernelPaths, places.policyDir],
      memoryPaths: [join(places.configDir, "memory"), ...(folders === undefined ? [] : [folders.local])],
      // what an unknown folder makes a model write is not kept without a question
      ownMemory: folders !== undefined && isTrusted ? Object.values(folders) : [],
      ...(folders === undefined ? {} : { noteFolders: folders }),
      skillPaths,
      realPath,
      foldsNames: foldsNames(root),
    });
    for (const line of [
      ...merged.policyProblems,
      ...merged.unreadable,
      ...merged.warnings,
      ...permit.warnings,
      ...(memory instanceof Fault && merged.hasMemory ? [memory.message] : []),
    ])
      this.#tellOnce(warn, line);
    return { permit, merged, root, isTrusted, memory, files, brought, stamp };
  }

  #memoryOf(root: string, { memoryDirectory: directory }: MergedSettings): MemoryFolders | Fault {
    const { places, kernelPaths, realPath, memoryPath: override } = this.#options;
    const { configDir, home } = places;
    const closed = [...kernelPaths, configDir, ...NEVER.map((name) => join(home, name))];
    try {
      const usual = memoryFolders(configDir, root, realPath);
      return movedTo(usual, { override, directory }, { home, realPath, closed });
    } catch (error) {
      if (error instanceof Fault) return error;
      throw error;
    }
  }

  #tellOnce(warn: (line: string) => void, line: string): void {
    if (this.#told.has(line)) return;
    if (this.#told.size >= MAX_TOLD) this.#told.clear();
    this.#told.add(line);
    warn(`settings: ${line}`);
  }
}

/** Below the home folder, besides Crux's own: no memory is kept there. */
const NEVER = [".ssh", ".gnupg", ".config/crux"];

/** Logged lines that are remembered, so that each is logged only once. */
const MAX_TOLD = 1000;

/** The settings files of a project with their digests, so that a changed file is not taken for the trusted one. */
function broughtBy(files: readonly LoadedFile[]): readonly BroughtFile[] {
  return files.flatMap((file) => {
    const { source, path, digest } = file;
    return isBrought(source) && digest !== null ? [{ path, digest, narrows: onlyNarrows(file) }] : [];
  });
}

/**
 * Whether the volume of a directory ignores case in names. Tested on the directory, or the nearest one above it with a
 * letter in its name, by looking it up in the other case.
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
