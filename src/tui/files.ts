/**
 * The files below the folder of the session, for their names: as far as they were found. Walked anew for each name that is
 * begun, folder by folder, the near ones first; without what git ignores. Bounded, and links are not followed.
 */
import type { Dirent } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import ignore, { type Ignore } from "ignore";

const MAX_FILES = 20_000;
const MAX_RULES_BYTES = 1024 * 1024;

interface Folder {
  /** Below the root, with a slash at its end; "" is the root. */
  readonly path: string;
  readonly rules: readonly Rules[];
}

/** The patterns of one ignore file, for what is below its folder. */
interface Rules {
  readonly base: string;
  readonly patterns: Ignore;
}

export class Files implements Disposable {
  readonly #root: string;
  readonly #onChange: () => void;
  #walk = new AbortController();
  /** Folders end with a slash. */
  paths: readonly string[] = [];

  constructor(root: string, onChange: () => void) {
    this.#root = root;
    this.#onChange = onChange;
  }

  /** Looks again. Resolves when it has seen all, or was told to look once more. */
  async look(): Promise<void> {
    this.#walk.abort();
    this.#walk = new AbortController();
    const { signal } = this.#walk;
    const paths: string[] = [];
    this.paths = paths;
    const queue: Folder[] = [{ path: "", rules: [] }];
    for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
      const rules = [...folder.rules, ...(await rulesOf(this.#root, folder.path))];
      const found = await namesOf(this.#root, folder.path, rules);
      if (signal.aborted) return;
      for (const path of found.slice(0, MAX_FILES - paths.length)) paths.push(path);
      this.#onChange();
      if (paths.length === MAX_FILES) return;
      for (const path of found) if (path.endsWith("/")) queue.push({ path, rules });
    }
  }

  [Symbol.dispose](): void {
    this.#walk.abort();
  }
}

async function namesOf(root: string, folder: string, rules: readonly Rules[]): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((): Dirent[] => []);
  return entries
    .flatMap((entry) => (entry.isDirectory() ? [`${folder}${entry.name}/`] : [`${folder}${entry.name}`]))
    .filter((path) => !path.endsWith("/.git/") && path !== ".git/" && !isIgnored(path, rules))
    .sort();
}

/** The nearest ignore file with a pattern that matches decides, as in git. */
function isIgnored(path: string, rules: readonly Rules[]): boolean {
  for (const { base, patterns } of rules.toReversed()) {
    const { ignored, unignored } = patterns.test(path.slice(base.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}

async function rulesOf(root: string, base: string): Promise<readonly Rules[]> {
  const file = join(root, base, ".gitignore");
  const stats = await stat(file).catch(() => undefined);
  if (stats?.isFile() !== true || stats.size > MAX_RULES_BYTES) return [];
  const text = await readFile(file, "utf8").catch(() => "");
  return [{ base, patterns: ignore().add(text) }];
}
