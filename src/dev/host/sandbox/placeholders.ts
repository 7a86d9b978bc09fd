/**
 * Empty directories that exist, while sandboxed programs run, at paths where the programs must not create one: a
 * mount needs a mount point. Each is shared by all running programs, and removed with the last of them if it is still
 * empty. Those that a killed daemon left are recorded in its ledger, one file per program, and removed when the next
 * daemon starts.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../driver-error.ts";
import { Folder } from "../../folder.ts";

export class Placeholders {
  readonly #ledgerDir: string;
  /** The number of programs that need each, by path. */
  readonly #users = new Map<string, number>();

  /** `ledgerDir`: a directory for the ledger only; created when needed. */
  constructor(ledgerDir: string) {
    this.#ledgerDir = ledgerDir;
  }

  /**
   * True if the directory exists only for programs that are running now: another program that needs it must hold it
   * as well.
   */
  holds(path: string): boolean {
    return this.#users.has(path);
  }

  /**
   * Creates the missing directories; returns a function that releases them. Throws the host's error; all are released
   * then.
   */
  hold(id: string, paths: readonly string[]): () => void {
    if (paths.length === 0) return () => {};
    const page = join(this.#ledgerDir, id);
    mkdirSync(this.#ledgerDir, { recursive: true, mode: 0o700 });
    writeFileSync(page, JSON.stringify(paths), { mode: 0o600 });
    const held: string[] = [];
    const letGo = () => {
      for (const path of held.splice(0)) this.#release(path);
      rmSync(page, { force: true });
    };
    try {
      for (const path of paths) {
        this.#make(path);
        held.push(path);
      }
    } catch (error) {
      letGo();
      throw error;
    }
    return letGo;
  }

  /** Removes the directories that the last daemon left, if they are still empty. Returns how many there were. */
  sweep(): number {
    const pages = listOrEmpty(this.#ledgerDir);
    const paths = new Set(pages.flatMap((page) => pathsIn(join(this.#ledgerDir, page))));
    for (const path of paths) removeEmpty(path);
    rmSync(this.#ledgerDir, { recursive: true, force: true });
    return paths.size;
  }

  /** A directory that another program created meanwhile is not ours: it is not held and not removed. */
  #make(path: string): void {
    const users = this.#users.get(path) ?? 0;
    try {
      using folder = Folder.of(path, "Open");
      mkdirSync(folder.at(path));
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      if (users === 0) return;
    }
    this.#users.set(path, users + 1);
  }

  #release(path: string): void {
    const users = this.#users.get(path);
    if (users === undefined) return;
    if (users > 1) this.#users.set(path, users - 1);
    else {
      this.#users.delete(path);
      removeEmpty(path);
    }
  }
}

function listOrEmpty(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** A truncated page names directories that were not created yet. */
function pathsIn(page: string): readonly string[] {
  try {
    const paths: unknown = JSON.parse(readFileSync(page, "utf8"));
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}

/** A directory that is no longer empty is not ours any more. */
function removeEmpty(path: string): void {
  try {
    using folder = Folder.of(path, "Open");
    rmdirSync(folder.at(path));
  } catch {
    // already removed, or in use
  }
}
