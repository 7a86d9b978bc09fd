/**
 * Whether the user has trusted a workspace: its root by path, and each file that has an effect by the content that the
 * user saw. Files that are new or changed since then have no effect. Trust in a directory does not extend to a
 * repository inside it; a worktree shares the trust of its main repository.
 */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { structuredPatch } from "diff";
import { Fault, messageOf } from "../../abi/errors.ts";
import type { BroughtItem, BroughtState, TrustedWorkspace, WorkspaceView } from "../../abi/trust.ts";
import type { BroughtFile, TrustDesk, WorkspaceTrust } from "../../kernel/ports/trust.ts";
import { isWithin } from "../../lib/path.ts";
import { findProjectRoot } from "../settings/sources.ts";
import { type Brought, digestOf, Inventories } from "./inventory.ts";
import type { TrustRecord, TrustStore } from "./store.ts";
import { isSessionOnly, mainOf, type SubjectOptions } from "./subject.ts";

/** The longest text stored for comparison; a change of a longer one is reported without its lines. */
const MAX_TEXT = 256 * 1024;
/** The most characters of all changes shown at once. */
const MAX_DIFFS = 512 * 1024;
/** The most characters of one change, and the bounds on computing it. */
const MAX_DIFF = 16 * 1024;
const MAX_EDITS = 2000;
const MAX_DIFF_MS = 200;

/** How long trust that ends with the last process lasts where the user wants it for the next commands too, in ms. */
const HOUR_MS = 3_600_000;

interface TrustOptions extends SubjectOptions {
  readonly store: TrustStore;
  readonly now: () => number;
  readonly mono: () => number;
  readonly log: (level: "info" | "warn", line: string) => void;
}

/** Trust that outlasts the last process for a while. */
interface Hour {
  readonly untilMono: number;
  /** The folder itself: another one may get its name. */
  readonly folder: string;
  /** No process works there. */
  isAlone: boolean;
}

/** The trust in a workspace while an agent is loaded. */
export interface ProjectView {
  readonly root: string;
  readonly isTrusted: boolean;
  /** A cache key that stays the same until a decision of trust on any workspace. */
  readonly key: string;
  /** `path`: absolute, or for a server as in its item. */
  approves(path: string, digest: string): boolean;
}

export class Trust implements WorkspaceTrust, TrustDesk {
  readonly #options: TrustOptions;
  readonly #inventories = new Inventories();
  /** Records that end with the session of their workspace, by root. */
  readonly #sessions = new Map<string, TrustRecord>();
  readonly #used = new Set<string>();
  readonly #hours = new Map<string, Hour>();
  #sessionRevision = 0;

  constructor(options: TrustOptions) {
    this.#options = options;
  }

  isTrusted(root: string, files: readonly BroughtFile[]): boolean {
    const records = this.#records(root);
    if (records.length === 0) return false;
    return files.every((file) => holds(records, { ...file, path: relative(root, file.path) }));
  }

  /** Keeps a file trusted after Crux has changed it; in an untrusted workspace nothing becomes trusted. */
  hasWritten(root: string, before: BroughtFile | null, after: BroughtFile): void {
    const records = this.#records(root);
    const path = relative(root, after.path);
    if (records.length === 0) return;
    if (before !== null && !holds(records, { ...before, path })) return;
    const own = this.#own(root) ?? this.#newRecord(root, "user");
    try {
      this.#put({ ...own, digests: { ...own.digests, [path]: after.digest } }, new Map());
    } catch (error) {
      this.#options.log(
        "warn",
        `trust: ${after.path} stays off until it is trusted again: ${messageOf(error)}`,
      );
    }
  }

  viewOf(cwd: string): ProjectView {
    const root = this.#rootOf(cwd);
    const records = this.#records(root);
    if (this.#sessions.has(root)) this.#used.add(root);
    const hour = this.#hours.get(root);
    if (hour !== undefined) hour.isAlone = false;
    return {
      root,
      isTrusted: records.length > 0,
      key: `${root} ${records.length} ${this.#options.store.revision} ${this.#sessionRevision}`,
      approves: (path, digest) =>
        approves(records, path.startsWith("/") ? relative(root, path) : path, digest),
    };
  }

  /** Called after a process has ended: `cwds` are those of the remaining processes. */
  endSessions(cwds: Iterable<string>): void {
    if (this.#used.size === 0) return;
    const left = new Set([...cwds].map((cwd) => this.#rootOf(cwd)));
    for (const root of this.#used) {
      if (left.has(root)) continue;
      this.#used.delete(root);
      const hour = this.#hours.get(root);
      if (hour === undefined) this.#endSession(root);
      else hour.isAlone = true;
      this.#session(root);
    }
  }

  /** undefined: there is none, or its hour is over. */
  #session(root: string): TrustRecord | undefined {
    const hour = this.#hours.get(root);
    const isOver = hour?.isAlone === true && !this.#lasts(root, hour);
    if (isOver) this.#endSession(root);
    return this.#sessions.get(root);
  }

  #lasts(root: string, { untilMono, folder }: Hour): boolean {
    return this.#options.mono() < untilMono && folderOf(root) === folder;
  }

  #endSession(root: string): boolean {
    this.#hours.delete(root);
    const wasThere = this.#sessions.delete(root);
    if (wasThere) this.#sessionRevision++;
    return wasThere;
  }

  list(): readonly TrustedWorkspace[] {
    const sessions = [...this.#sessions.keys()].flatMap((root) => this.#session(root) ?? []);
    return [...this.#options.store.list(), ...sessions].map((record) => this.#shown(record));
  }

  async show(
    dir: string,
    { withDiff = false, compose }: Parameters<TrustDesk["show"]>[1] = {},
  ): Promise<WorkspaceView> {
    const root = this.#rootOf(checked(dir));
    const { items, refused } = await this.#inventoryOf(root, dir, compose);
    const records = this.#records(root);
    const shown: BroughtItem[] = [];
    let room = withDiff ? MAX_DIFFS : 0;
    for (const item of items) {
      const state = stateOf(records, item);
      const diff = room > 0 && state === "changed" ? await this.#diffOf(records, item) : undefined;
      room -= diff?.length ?? 0;
      const { path, kind, digest, acts } = item;
      shown.push({ path, kind, digest, acts, state, ...(diff === undefined ? {} : { diff }) });
    }
    return {
      root,
      isTrusted: records.length > 0,
      isSessionOnly: isSessionOnly(root, this.#options),
      main: mainOf(root, this.#options.realPath),
      isDeclined:
        this.#options.store.declined(root) ===
        digestOfAll(seenOf(shown.filter(({ state }) => state !== "trusted" && state !== "holds"))),
      items: shown,
      refused,
    };
  }

  async add(
    dir: string,
    seen: Readonly<Record<string, string>>,
    { by, compose, isForHour = false }: Parameters<TrustDesk["add"]>[2],
  ): Promise<TrustedWorkspace> {
    const root = this.#rootOf(checked(dir));
    const { items } = await this.#inventoryOf(root, dir, compose);
    const here = new Map(items.map((item) => [item.path, item]));
    for (const [path, digest] of Object.entries(seen)) {
      if (here.get(path)?.digest !== digest)
        throw new Fault({
          code: "CONFLICT",
          message: `${join(root, path)} is not what you have seen any more; nothing was trusted`,
          fact: { kind: "untrusted", folder: root },
        });
    }
    const texts = await textsOf(items.filter(({ path }) => Object.hasOwn(seen, path)));
    const old = this.#own(root);
    // instruction files deeper than the search are found only from their own folder, compose files only by name
    const isDeep = (path: string) => path.includes("/") && path.endsWith(".md");
    const isElsewhere = (path: string) =>
      (isDeep(path) || /\.ya?ml$/.test(path)) && existsSync(join(root, path));
    const kept = Object.entries(old?.digests ?? {}).filter(([path]) => here.has(path) || isElsewhere(path));
    const record = { ...this.#newRecord(root, by), digests: { ...Object.fromEntries(kept), ...seen } };
    this.#put(record, texts);
    if (isForHour && this.#sessions.has(root))
      this.#hours.set(root, {
        untilMono: this.#options.mono() + HOUR_MS,
        folder: folderOf(root),
        isAlone: !this.#used.has(root),
      });
    this.#options.log("info", `trust: ${root} by ${by}: ${Object.keys(seen).join(", ") || "nothing yet"}`);
    return this.#shown(record);
  }

  async decline(dir: string, seen: Readonly<Record<string, string>>): Promise<void> {
    const root = this.#rootOf(checked(dir));
    this.#options.store.decline(root, digestOfAll(seen));
  }

  async remove(dir: string): Promise<{ root: string; isRemoved: boolean }> {
    const root = this.#rootOf(dir);
    const isSession = this.#endSession(root);
    this.#used.delete(root);
    const { store, realPath } = this.#options;
    const worktrees = store.list().filter((record) => mainOf(record.root, realPath) === root);
    for (const worktree of worktrees) store.remove(worktree.root);
    const isRemoved = store.remove(root) || isSession || worktrees.length > 0;
    if (isRemoved) this.#options.log("info", `trust: ${root} is trusted no longer`);
    return { root, isRemoved };
  }

  #rootOf(dir: string): string {
    const { realPath, home } = this.#options;
    return findProjectRoot(realPath(dir), home);
  }

  /** The record of the root, and that of the main repository if it is a worktree. */
  #records(root: string): readonly TrustRecord[] {
    const { store, realPath } = this.#options;
    if (store.list().length === 0 && this.#sessions.size === 0) return [];
    const own = this.#own(root);
    const main = mainOf(root, realPath);
    const mains = main === null ? undefined : this.#own(main);
    return [own, mains].filter((record) => record !== undefined);
  }

  #own(root: string): TrustRecord | undefined {
    return this.#session(root) ?? this.#options.store.find(root);
  }

  #newRecord(root: string, by: string): TrustRecord {
    return { root, at: this.#options.now(), by, digests: {} };
  }

  #put(record: TrustRecord, texts: ReadonlyMap<string, string>): void {
    if (isSessionOnly(record.root, this.#options)) {
      this.#sessions.set(record.root, record);
      this.#sessionRevision++;
    } else this.#options.store.put(record, texts);
  }

  #shown({ root, at, by, digests }: TrustRecord): TrustedWorkspace {
    return { root, at, by, items: Object.keys(digests).length, isSessionOnly: this.#sessions.has(root) };
  }

  #inventoryOf(root: string, dir: string, compose?: string) {
    const { home, realPath } = this.#options;
    return this.#inventories.of(root, {
      isHome: isWithin(root, realPath(home)),
      dir: realPath(dir),
      // a link at its end is followed where the file is looked at
      compose: compose && join(realPath(dirname(compose)), basename(compose)),
    });
  }

  async #diffOf(records: readonly TrustRecord[], item: Brought): Promise<string | undefined> {
    const digest = records.map(({ digests }) => own(digests, item.path)).find((each) => each !== undefined);
    const old = digest === undefined ? undefined : this.#options.store.textOf(digest);
    return old === undefined ? undefined : changeOf(old, await item.text());
  }
}

/** "": it is not there. */
function folderOf(root: string): string {
  const found = statSync(root, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? "" : `${found.dev} ${found.ino} ${found.birthtimeNs}`;
}

function approves(records: readonly TrustRecord[], path: string, digest: string): boolean {
  return records.some(({ digests }) => own(digests, path) === digest);
}

/**
 * What only forbids holds without being seen. Once it was seen, it is part of what the user trusted with it: another version may
 * forbid less.
 */
function holds(records: readonly TrustRecord[], { path, digest, narrows }: BroughtFile): boolean {
  return approves(records, path, digest) || (narrows === true && !isSeen(records, path));
}

function isSeen(records: readonly TrustRecord[], path: string): boolean {
  return records.some(({ digests }) => own(digests, path) !== undefined);
}

function stateOf(records: readonly TrustRecord[], item: Brought): BroughtState {
  if (approves(records, item.path, item.digest)) return "trusted";
  if (isSeen(records, item.path)) return "changed";
  return item.narrows ? "holds" : "new";
}

function own(digests: Readonly<Record<string, string>>, path: string): string | undefined {
  return Object.hasOwn(digests, path) ? digests[path] : undefined;
}

function seenOf(items: readonly Pick<Brought, "path" | "digest">[]): Record<string, string> {
  return Object.fromEntries(items.map(({ path, digest }) => [path, digest]));
}

/** Digests all entries, in the order of paths. */
function digestOfAll(seen: Readonly<Record<string, string>>): string {
  const lines = Object.entries(seen).sort(([a], [b]) => (a < b ? -1 : 1));
  return digestOf(JSON.stringify(lines));
}

/** The texts to store for later comparison; environment files are left out, since they may hold secrets. */
async function textsOf(items: readonly Brought[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const { kind, digest, text } of items) {
    if (kind === "environment") continue;
    const content = await text();
    if (content.length <= MAX_TEXT && digestOf(content) === digest) texts.set(digest, content);
  }
  return texts;
}

/** NOT_FOUND: no such folder. */
function checked(dir: string): string {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true) return dir;
  throw new Fault({ code: "NOT_FOUND", message: `directory not found: ${dir}` });
}

/** The changes between two texts, for the user: hunks of a unified diff, without its head. */
function changeOf(before: string, after: string): string {
  const limits = { context: 2, maxEditLength: MAX_EDITS, timeout: MAX_DIFF_MS };
  const patch = structuredPatch("", "", before, after, "", "", limits);
  if (patch === undefined) return "too different to be compared";
  const text = patch.hunks
    .map((hunk) => `@@ -${hunk.oldStart} +${hunk.newStart} @@\n${hunk.lines.join("\n")}`)
    .join("\n");
  return text.length <= MAX_DIFF ? text : `${text.slice(0, MAX_DIFF)}\n… and more`;
}
