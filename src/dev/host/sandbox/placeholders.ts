/**
 * Empty directories that stand, while sandboxed programs run, where one may not be made: a mount needs something to lie on. Each
 * is shared by all programs that run at once, and removed with the last of them if it is still empty. What a daemon that was
 * killed left is in its ledger, a file for each program, and removed when the next one starts.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../driver-error.ts";

export class Placeholders {
  readonly #ledgerDir: string;
  /** How many programs need each. */
  readonly #users = new Map<string, number>();

  /** `ledgerDir`: for these alone; made here when it is needed. */
  constructor(ledgerDir: string) {
    this.#ledgerDir = ledgerDir;
  }

  /** It stands there only for programs that run now: whoever needs it must hold it as well. */
  holds(path: string): boolean {
    return this.#users.has(path);
  }

  /** Makes what is not there; returns what takes it back. Throws what the host says; nothing is left then. */
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

  /** Removes what the last daemon left, if it is still empty. How many there were. */
  sweep(): number {
    const pages = listOrEmpty(this.#ledgerDir);
    const paths = new Set(pages.flatMap((page) => pathsIn(join(this.#ledgerDir, page))));
    for (const path of paths) removeEmpty(path);
    rmSync(this.#ledgerDir, { recursive: true, force: true });
    return paths.size;
  }

  /** One that somebody else has made meanwhile is theirs: it is held too, and goes only while it is empty. */
  #make(path: string): void {
    const users = this.#users.get(path) ?? 0;
    try {
      mkdirSync(path);
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

/** A page that was cut off names what was not made yet. */
function pathsIn(page: string): readonly string[] {
  try {
    const paths: unknown = JSON.parse(readFileSync(page, "utf8"));
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}

/** What holds something by now is not ours any more. */
function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // gone, or in use
  }
}
