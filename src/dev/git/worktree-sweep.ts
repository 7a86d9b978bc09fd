/**
 * Removes worktrees of agents that nothing has used for some days, as `GitWorktrees` does at the end of an agent: only where it
 * is certain that nothing would be lost. What git has locked, or is at work on, stays, and so does one in which a process of
 * Crux or any other program works.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdir, readlink, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../abi/errors.ts";
import type { Clock } from "../../abi/program.ts";
import { WORKTREES, type Worktree } from "../../abi/worktree.ts";
import { isWithin } from "../../lib/path.ts";
import { isThere, MARKER, ownGitDir, textIn } from "./worktree-files.ts";

const DAY_MS = 24 * 3600 * 1000;
/** Of what was removed, the last ones are told. */
const TOLD = 20;
/** In the marker of one that was made for a process; that of a process which moved to one by itself names the process. */
const OWNER = /^pid \d+ worktree$/;

type IsUsed = (path: string) => boolean;
type Repository = Pick<Worktree, "main" | "gitDir">;

interface SweepDeps {
  /** The repositories in which Crux has made worktrees: a file for each. */
  readonly reposDir: string;
  readonly clock: Pick<Clock, "sleep">;
  /** Those last used before it (wall clock, ms) are old; 0: none are. */
  readonly oldest: () => number;
  /** Whether a process works in one, or would when it comes back. The answer holds for a moment. */
  readonly users: () => Promise<IsUsed>;
  /** Removes one if `isOld` still holds when its turn comes, and nothing would be lost; whether it has. */
  readonly removeOld: (worktree: Worktree, isOld: () => Promise<boolean>) => Promise<boolean>;
  readonly log: (level: "info" | "warn", line: string) => void;
}

export class WorktreeSweep {
  /** Paths that this daemon has removed, the last ones. */
  readonly swept: string[] = [];
  readonly #deps: SweepDeps;
  readonly #stop = new AbortController();
  #daily: Promise<void> = Promise.resolve();

  constructor(deps: SweepDeps) {
    this.#deps = deps;
  }

  /** At once and every day. */
  start(): void {
    this.#daily = this.#sweepDaily();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#daily;
  }

  async #sweepDaily(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.sweep();
      } catch (error) {
        this.#deps.log("warn", `old worktrees are kept: ${messageOf(error)}`);
      }
      await this.#deps.clock.sleep(DAY_MS, signal).catch(() => {});
    }
  }

  async sweep(): Promise<void> {
    const oldest = this.#deps.oldest();
    if (oldest <= 0) return;
    const { reposDir } = this.#deps;
    for (const name of await readdir(reposDir).catch(() => [])) {
      const file = join(reposDir, name);
      const repository = readRepository(file);
      const made = repository === undefined ? [] : await madeIn(repository);
      if (made.length === 0) await rm(file, { force: true });
      const old = [];
      for (const each of made) if (await isOld(each, oldest)) old.push(each);
      if (old.length > 0) await this.#sweepOf(old, oldest);
    }
  }

  async #sweepOf(old: readonly Worktree[], oldest: number): Promise<void> {
    const { users, removeOld, log } = this.#deps;
    const [isUsed, programs] = [await users(), await programFolders()];
    for (const each of old) {
      if (this.#stop.signal.aborted) return;
      const { path } = each;
      const isFree = async () =>
        (await isOld(each, oldest)) && !isUsed(path) && !programs.some((cwd) => isWithin(path, cwd));
      try {
        if (!(await removeOld(each, isFree))) continue;
      } catch (error) {
        log("warn", `${path} is kept: ${messageOf(error)}`);
        continue;
      }
      log("info", `${path} removed, with its branch: nothing used it any more and nothing had changed in it`);
      this.swept.push(path);
      this.swept.splice(0, this.swept.length - TOLD);
    }
  }
}

/** So that the sweep looks into it. */
export function noteRepository(reposDir: string, { main, gitDir }: Repository): void {
  mkdirSync(reposDir, { recursive: true, mode: 0o700 });
  const name = createHash("sha256").update(gitDir).digest("hex").slice(0, 32);
  writeFileSync(join(reposDir, name), JSON.stringify({ main, gitDir }), { mode: 0o600 });
}

function readRepository(file: string): Repository | undefined {
  try {
    const { main, gitDir } = JSON.parse(readFileSync(file, "utf8")) as Repository;
    return typeof main === "string" && typeof gitDir === "string" ? { main, gitDir } : undefined;
  } catch {
    return undefined;
  }
}

/** Those with a marker that are where they should be, and whose two pointers agree. */
async function madeIn({ main, gitDir }: Repository): Promise<readonly Worktree[]> {
  const all = join(gitDir, "worktrees");
  const made: Worktree[] = [];
  for (const name of await readdir(all).catch(() => [])) {
    const own = join(all, name);
    try {
      const { base, branch, owner } = JSON.parse(await textIn(own, MARKER)) as Marker;
      const path = dirname((await textIn(own, "gitdir")).trim());
      const isOurs = typeof owner === "string" && OWNER.test(owner) && isWithin(join(main, WORKTREES), path);
      if (isOurs && ownGitDir(path) === own) made.push({ path, branch, main, gitDir, base });
    } catch {
      // not one of ours, or half of one
    }
  }
  return made;
}

type Marker = Pick<Worktree, "base" | "branch"> & { readonly owner?: unknown };

/** Not used since, not locked, and no git at work on it. */
async function isOld({ path }: Worktree, oldest: number): Promise<boolean> {
  if (!(await isThere(path)) || (await stat(path)).mtimeMs >= oldest) return false;
  return (await readdir(ownGitDir(path))).every((name) => name !== "locked" && !name.endsWith(".lock"));
}

/** Where the programs of this machine work, as far as it can be read: a shell of the user in a worktree keeps it. */
async function programFolders(): Promise<readonly string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map((pid) => readlink(join("/proc", pid, "cwd")).catch(() => "")));
}
