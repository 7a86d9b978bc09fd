/**
 * Makes worktrees for processes below `.crux/worktrees/` of the main checkout, and removes those in which nothing has
 * changed. git itself makes and removes them, with its own locks; nothing that the repository configures is started, and
 * of the main checkout only `info/exclude` changes. A marker in the git directory says which worktrees are Crux's.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { lstat, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { Fault, messageOf } from "../../abi/errors.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { slugProblem, type Worktree } from "../../abi/worktree.ts";
import type { Worktrees, WorktreeWish } from "../../kernel/ports/worktrees.ts";
import { abortable } from "../../lib/abort.ts";
import { excludeFromGit } from "../../lib/git-exclude.ts";
import { counted } from "../../lib/text/counted.ts";
import { CONFIG, filtersOff, Git, type GitDeps, QUIET, within } from "./status.ts";
import {
  checkPrefixes,
  EXCLUDED,
  fault,
  isThere,
  MARKER,
  madeInside,
  ownerOf,
  ownGitDir,
  realInside,
  taken,
  textIn,
} from "./worktree-files.ts";
import { noteRepository } from "./worktree-sweep.ts";

const OPEN_MS = 60_000;
const SETTLE_MS = 20_000;
const CLOSE_MS = 5_000;

interface Repository {
  readonly main: string;
  readonly gitDir: string;
  readonly base: string;
}

interface WorktreeDeps extends GitDeps {
  /** Has a note of each worktree that no process is on record with yet, so that a killed daemon leaves none to nobody. */
  readonly notesDir: string;
  /** Has a note of each repository with worktrees, for the sweep. */
  readonly reposDir: string;
  readonly warn: (line: string) => void;
}

export class GitWorktrees implements Worktrees {
  readonly #deps: WorktreeDeps;
  /** The work in progress on each repository: one thing at a time. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #over = new AbortController();
  /** The notes of this daemon. */
  readonly #notes = new Set<string>();

  constructor(deps: WorktreeDeps) {
    this.#deps = deps;
  }

  async open({ cwd, slug, owner, isTop }: WorktreeWish, signal: AbortSignal): Promise<Worktree> {
    const problem = slugProblem(slug);
    if (problem !== undefined)
      throw fault("INVALID", `not a name of a worktree: ${JSON.stringify(slug)}: ${problem}`);
    const { sandbox } = this.#deps.exec;
    if (sandbox?.available !== true)
      throw fault("UNAVAILABLE", `a worktree needs a sandbox: ${sandbox?.why ?? "there is none here"}`);
    const again = await this.#again(cwd, slug);
    if (again !== undefined) return again;
    return within(this.#deps, { ms: OPEN_MS, cwd, signal }, async (linked) => {
      const found = await repositoryAt(this.#git({ cwd, owner }, linked));
      if (isTop === true && realpathSync(cwd) !== found.main)
        throw fault("UNAVAILABLE", `${cwd} is not the top of the checkout ${found.main}: start there`);
      return this.#inTurn(found.gitDir, () => this.#get(found, { slug, owner }, linked));
    });
  }

  settle(worktree: Worktree): void {
    const { signal } = this.#over;
    const bound = { ms: SETTLE_MS, cwd: worktree.path, signal };
    this.#inTurn(worktree.gitDir, async () => {
      // the next daemon goes on with it
      this.#note(worktree);
      await within(this.#deps, bound, (linked) => this.#settle(worktree, linked));
      this.recorded(worktree);
    }).catch((error: unknown) => this.#deps.warn(`${worktree.path} is kept: ${messageOf(error)}`));
  }

  remove(worktree: Worktree, how: Removing, signal: AbortSignal): Promise<void> {
    const bound = { ms: OPEN_MS, cwd: worktree.path, signal };
    return this.#inTurn(worktree.gitDir, async () => {
      if (!(await isThere(worktree.path))) return;
      await within(this.#deps, bound, (linked) => this.#remove(worktree, how, linked));
    });
  }

  /** As `settle`, if `isOld` still holds when its turn comes. Whether it is gone. */
  removeOld(worktree: Worktree, isOld: () => Promise<boolean>): Promise<boolean> {
    const bound = { ms: SETTLE_MS, cwd: worktree.main, signal: this.#over.signal };
    return this.#inTurn(worktree.gitDir, async () => {
      if (!(await isOld())) return false;
      await within(this.#deps, bound, (linked) => this.#settle(worktree, linked));
      return !(await isThere(worktree.path));
    });
  }

  async isKept({ gitDir, path }: Pick<Worktree, "gitDir" | "path">, signal: AbortSignal): Promise<boolean> {
    await abortable(this.#turns.get(gitDir) ?? Promise.resolve(), signal);
    return isThere(path);
  }

  recorded({ path }: Pick<Worktree, "path">): void {
    const name = noteOf(path);
    if (this.#notes.delete(name)) rmSync(join(this.#deps.notesDir, name), { force: true });
  }

  /**
   * Removes what an earlier daemon has made, or half made, for a process that is not on record; what has changed is kept.
   * `isUsed`: a process works there.
   */
  clearLeft(isUsed: (path: string) => boolean): void {
    const { notesDir, warn } = this.#deps;
    mkdirSync(notesDir, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(notesDir)) {
      if (this.#notes.has(name)) continue;
      const over = () => rmSync(join(notesDir, name), { force: true });
      const left = readNote(join(notesDir, name));
      if (left === undefined || isUsed(left.path) || !existsSync(left.gitDir)) {
        over();
        continue;
      }
      const bound = { ms: SETTLE_MS, cwd: left.main, signal: this.#over.signal };
      const clear = () => within(this.#deps, bound, (linked) => this.#clear(left, linked));
      this.#inTurn(left.gitDir, () => clear().then(over)).catch((error: unknown) =>
        warn(`${left.path} is left by the last daemon: ${messageOf(error)}`),
      );
    }
  }

  /** What is in progress comes to an end; a git that hangs is killed after a while. */
  async close(): Promise<void> {
    const done = new AbortController();
    this.#deps.clock.sleep(CLOSE_MS, done.signal).then(
      () => this.#over.abort(),
      () => {},
    );
    await Promise.allSettled(this.#turns.values());
    done.abort();
  }

  async #inTurn<T>(gitDir: string, act: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(gitDir) ?? Promise.resolve();
    const turn = before.then(act, act);
    const done = turn.catch(() => {});
    this.#turns.set(gitDir, done);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(gitDir) === done) this.#turns.delete(gitDir);
    }
  }

  /** One that is there already, without a git process. undefined: it is not, or `cwd` is not the top of a main checkout. */
  async #again(cwd: string, slug: string): Promise<Worktree | undefined> {
    const main = await realpath(cwd).catch(() => undefined);
    if (main === undefined) return undefined;
    const [gitDir, parent] = [join(main, ".git"), join(main, EXCLUDED)];
    const pointer = join(parent, slug, ".git");
    const isTop = (await lstat(gitDir).catch(() => undefined))?.isDirectory() === true;
    if (!isTop || !(await isThere(pointer))) return undefined;
    return this.#inTurn(gitDir, async () =>
      // an agent that ended meanwhile may have taken it along
      (await isThere(pointer)) ? taken(join(realInside(main, parent), slug), { main, gitDir }) : undefined,
    );
  }

  async #get(
    { main, gitDir, base }: Repository,
    { slug, owner }: Omit<WorktreeWish, "cwd">,
    signal: AbortSignal,
  ): Promise<Worktree> {
    const parent = join(main, EXCLUDED);
    const path = join(madeInside(main, parent), slug);
    await checkPrefixes(parent, slug);
    if (await isThere(path)) return taken(path, { main, gitDir });
    excludeFromGit(gitDir, EXCLUDED);
    noteRepository(this.#deps.reposDir, { main, gitDir });
    const branch = `worktree/${slug}`;
    const sandbox = profileOf(main, gitDir);
    const git = this.#git({ cwd: main, owner, sandbox }, signal);
    const config = await quiet(git);
    const made = { path, branch, main, gitDir, base };
    // git refuses one that is there, whose branch is not ours to remove
    const isOurs = !(await hasBranch(gitDir, branch));
    if (isOurs) this.#note(made);
    try {
      await git.output(["worktree", "add", "--quiet", "-b", branch, path, base], config);
      await writeFile(join(ownGitDir(path), MARKER), `${JSON.stringify({ base, branch, owner })}\n`, {
        flag: "wx",
      });
      return made;
    } catch (error) {
      if (isOurs) await this.#takeBack(made);
      throw error;
    }
  }

  /** Also where its making was given up: what git had made by then goes, else with the next daemon. */
  async #takeBack(made: Worktree): Promise<void> {
    const bound = { ms: SETTLE_MS, cwd: made.main, signal: this.#over.signal };
    try {
      await within(this.#deps, bound, (linked) => this.#clear(made, linked));
      this.recorded(made);
    } catch (error) {
      this.#deps.warn(`${made.path} is left, half made: ${messageOf(error)}`);
    }
  }

  #note(made: Worktree): void {
    const { notesDir } = this.#deps;
    const name = noteOf(made.path);
    mkdirSync(notesDir, { recursive: true, mode: 0o700 });
    this.#notes.add(name);
    writeFileSync(join(notesDir, name), JSON.stringify(made));
  }

  /** What git was cut off from making is nobody's; whatever it has made is removed if nothing has changed in it. */
  async #clear(left: Worktree, signal: AbortSignal): Promise<void> {
    const { path, branch, main, gitDir, base } = left;
    const half = await halfMade(gitDir, path);
    if (half.length === 0 && (await isThere(path))) return this.#removeClean(left, signal);
    if (half.length > 0) await rm(path, { recursive: true, force: true });
    for (const own of half) await rm(own, { recursive: true, force: true });
    const git = this.#git({ cwd: main, owner: "kernel worktree", sandbox: profileOf(main, gitDir) }, signal);
    // only as long as it is where it began
    const deletion = ["update-ref", "-d", `refs/heads/${branch}`, base];
    await git.output(deletion, QUIET).catch(() => signal.throwIfAborted());
  }

  /** Counted twice: what was written meanwhile keeps it. git refuses by itself to remove what is not committed. */
  async #settle(worktree: Worktree, signal: AbortSignal): Promise<void> {
    const { path } = worktree;
    if ((await isThere(path)) && (await isThere(join(ownGitDir(path), MARKER))))
      await this.#removeClean(worktree, signal);
  }

  async #removeClean(worktree: Worktree, signal: AbortSignal): Promise<void> {
    const { path, branch, main, gitDir } = worktree;
    const owner = "kernel worktree";
    const there = this.#git({ cwd: path, owner }, signal);
    const config = await quiet(there);
    if ((await lossOf(there, worktree, config)) !== "" || (await lossOf(there, worktree, config)) !== "")
      return;
    const git = this.#git({ cwd: main, owner, sandbox: profileOf(main, gitDir) }, signal);
    await git.output(["worktree", "remove", path], config);
    await git.output(["branch", "-D", "--quiet", branch], config);
  }

  /** Counted twice too. What is discarded is not counted. git keeps one that was locked by hand. */
  async #remove(worktree: Worktree, { owner, discards }: Removing, signal: AbortSignal): Promise<void> {
    const { path, branch, main, gitDir } = worktree;
    if ((await ownerOf(path)) !== owner)
      throw fault("CONFLICT", `${path} was not made by this process: it only leaves it`);
    const there = this.#git({ cwd: path, owner }, signal);
    try {
      const config = await quiet(there);
      for (let count = 0; count < 2 && !discards; count++) {
        const loss = await lossOf(there, worktree, config);
        if (loss !== "") throw fault("CONFLICT", `${loss} would be lost: ${path} is kept`);
      }
      const git = this.#git({ cwd: main, owner, sandbox: profileOf(main, gitDir) }, signal);
      await git.output(["worktree", "remove", ...(discards ? ["--force"] : []), path], config);
      await git.output(["branch", "-D", "--quiet", branch], config);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Fault && error.code === "CONFLICT") throw error;
      throw fault("CONFLICT", `git cannot remove it, so it is kept: ${messageOf(error)}`, error);
    }
  }

  #git({ cwd, owner, sandbox = null }: Where, signal: AbortSignal): Git {
    return new Git(this.#deps, { cwd, owner, sandbox, killed: undefined }, signal);
  }
}

type Removing = Parameters<Worktrees["remove"]>[1];

/** What a removal would lose; "": nothing. */
async function lossOf(
  git: Git,
  { branch, base }: Worktree,
  config: Readonly<Record<string, string>>,
): Promise<string> {
  const status = await git.output(["status", "--porcelain", "--untracked-files=all"], config);
  const files = status.split("\n").length - 1;
  const ahead = ["rev-list", "--count", "HEAD", `refs/heads/${branch}`, `^${base}`];
  const commits = Number((await git.output(ahead, config)).trim());
  const told = [
    files > 0 ? counted(files, "changed file") : "",
    commits > 0 ? counted(commits, "commit") : "",
  ];
  return told.filter((each) => each !== "").join(" and ");
}

interface Where {
  readonly cwd: string;
  readonly owner: string;
  readonly sandbox?: SandboxProfile | null;
}

const noteOf = (path: string): string => createHash("sha256").update(path).digest("hex").slice(0, 32);

/** undefined: it was cut off, before anything was made. */
function readNote(file: string): Worktree | undefined {
  try {
    const note = JSON.parse(readFileSync(file, "utf8")) as Worktree;
    return [note.path, note.branch, note.main, note.gitDir, note.base].every(
      (each) => typeof each === "string",
    )
      ? note
      : undefined;
  } catch {
    return undefined;
  }
}

/** Where the repository keeps branches in another way than in files, it has any. */
async function hasBranch(gitDir: string, branch: string): Promise<boolean> {
  const name = `refs/heads/${branch}`;
  if ((await isThere(join(gitDir, name))) || (await isThere(join(gitDir, "reftable")))) return true;
  const packed = await textIn(gitDir, "packed-refs").catch(() => "");
  return packed.split("\n").some((line) => line.endsWith(` ${name}`));
}

/** The own git directories of a worktree that git has not come to the end of making: they are locked with that reason. */
async function halfMade(gitDir: string, path: string): Promise<string[]> {
  const all = join(gitDir, "worktrees");
  const names = await readdir(all).catch(() => []);
  const half = await Promise.all(
    names.map(async (name) => {
      const read = (file: string) => textIn(join(all, name), file).catch(() => "");
      const [to, lock] = [(await read("gitdir")).trim(), await read("locked")];
      const isOwn = to === "" ? name === basename(path) : resolve(all, name, to) === join(path, ".git");
      return isOwn && lock.startsWith("initializing") ? [join(all, name)] : [];
    }),
  );
  return half.flat();
}

/** Hooks, monitors and filters are off, and git does not pack the repository meanwhile. */
async function quiet(git: Git): Promise<Readonly<Record<string, string>>> {
  return { ...QUIET, "gc.auto": "0", ...filtersOff(await git.output(CONFIG, QUIET)) };
}

/** Of the repository only what a worktree consists of is writable; there is no network. */
function profileOf(main: string, gitDir: string): SandboxProfile {
  const protect = ["config", "hooks", "info"].map((name) => join(gitDir, name));
  return { write: [join(main, EXCLUDED), gitDir], protect, hide: [], show: [main], network: "off" };
}

/** The main repository, also from a linked worktree of it. */
async function repositoryAt(git: Git): Promise<Repository> {
  try {
    const dir = await git.output(["rev-parse", "--path-format=absolute", "--git-common-dir"], QUIET);
    const base = (await git.output(["rev-parse", "--verify", "HEAD^{commit}"], QUIET)).trim();
    const list = await git.output(["worktree", "list", "--porcelain", "-z"], QUIET);
    const [first = "", ...facts] = list.split("\0\0", 1)[0]?.split("\0") ?? [];
    if (facts.includes("bare")) throw fault("UNAVAILABLE", "a bare repository has no checkout");
    return { gitDir: realpathSync(dir.trimEnd()), main: realpathSync(first.replace(/^worktree /, "")), base };
  } catch (error) {
    if (error instanceof Fault && error.code === "UNAVAILABLE") throw error;
    throw fault("UNAVAILABLE", `a worktree needs a git repository with a commit: ${messageOf(error)}`, error);
  }
}
