/**
 * Reads instruction files in their order, broad to specific, each with the files it imports before it. Each file and
 * each text counts once. What cannot be read, or is too much, is named in a notice.
 */

import type { InstructionScope, InstructionText } from "../../abi/surroundings.ts";
import { INSTRUCTION_NAMES } from "../../abi/trust.ts";
import { isWithin } from "../../lib/path.ts";
import { importsOf } from "./imports.ts";

export const MAX_IMPORT_DEPTH = 5;
const MAX_ONE = 40_000;
const MAX_ALL = 100_000;

/** A file to look for. */
export interface Candidate {
  readonly path: string;
  readonly scope: InstructionScope;
  /** Real paths: only files in one of them are read, as the file itself or as an import. */
  readonly within: readonly string[];
}

/** Boot implements the port: user space does not open host files itself. */
export interface InstructionFiles {
  readonly home: string;
  /** undefined: no such file. */
  realPath(path: string): Promise<string | undefined>;
  /** The text of a file. Throws an error that says why it is not read. */
  read(file: {
    readonly path: string;
    readonly real: string;
    readonly scope: InstructionScope;
  }): Promise<string>;
}

export interface Collected {
  readonly texts: readonly InstructionText[];
  readonly notices: readonly string[];
}

export async function collect(candidates: readonly Candidate[], files: InstructionFiles): Promise<Collected> {
  const collector = new Collector(files);
  // all at once: most do not exist, and each look waits for a round of the event loop
  const reals = await Promise.all(candidates.map(({ path }) => files.realPath(path)));
  for (const [at, candidate] of candidates.entries()) await collector.take(candidate, reals[at]);
  return collector.bounded();
}

class Collector {
  readonly #files: InstructionFiles;
  readonly #paths = new Set<string>();
  readonly #texts = new Set<string>();
  readonly #found: InstructionText[] = [];
  readonly #notices: string[] = [];

  constructor(files: InstructionFiles) {
    this.#files = files;
  }

  /** `real`: the real path of the file; undefined: no such file. */
  async take({ path, scope, within }: Candidate, real: string | undefined, depth = 0): Promise<void> {
    if (real === undefined || this.#paths.has(real)) return;
    if (!within.some((dir) => isWithin(dir, real))) {
      if (depth === 0) this.#notices.push(`instructions: ${path} was left out: it leads out of its folder`);
      return;
    }
    this.#paths.add(real);
    let text: string;
    try {
      text = (await this.#files.read({ path, real, scope })).trim();
    } catch (error) {
      this.#notices.push(
        `instructions: ${path} was left out: ${error instanceof Error ? error.message : ""}`,
      );
      return;
    }
    if (text === "" || this.#texts.has(text)) return;
    this.#texts.add(text);
    if (depth < MAX_IMPORT_DEPTH)
      for (const mark of importsOf(text)) {
        const imported = importedPath(real, mark, this.#files.home);
        await this.take({ path: imported, scope, within }, await this.#files.realPath(imported), depth + 1);
      }
    this.#found.push({ path, scope, text: this.#cut(path, text, MAX_ONE) });
  }

  /** Over the limit for all together, the broadest files of the project are cut first, those of the policy never. */
  bounded(): Collected {
    const found = [...this.#found];
    let over = found.reduce((sum, { text }) => sum + text.length, 0) - MAX_ALL;
    for (const scope of ["project", "nested", "user"] as const) {
      for (const [at, each] of found.entries()) {
        if (over <= 0 || each.scope !== scope) continue;
        const most = Math.max(0, each.text.length - over - CUT.length);
        over -= each.text.length - most;
        found[at] = { ...each, text: this.#cut(each.path, each.text, most) };
      }
    }
    return { texts: found, notices: this.#notices };
  }

  #cut(path: string, text: string, most: number): string {
    if (text.length <= most) return text;
    this.#notices.push(`instructions: ${path} was cut: ${most} of ${text.length} characters are read`);
    return text.slice(0, most).toWellFormed() + CUT;
  }
}

const CUT = "\n(cut: the file is longer)";

/** The absolute path of an import; `~/` is the home directory. */
export function importedPath(importer: string, mark: string, home: string): string {
  if (mark.startsWith("/")) return mark;
  if (mark.startsWith("~/")) return `${home}/${mark.slice(2)}`;
  return `${importer.slice(0, importer.lastIndexOf("/"))}/${mark}`;
}

/** The folders from `root` down to `dir`, both included; only `dir` if it is not below. */
export function foldersBetween(root: string, dir: string): readonly string[] {
  if (!isWithin(root, dir)) return [dir];
  const names = dir
    .slice(root.length)
    .split("/")
    .filter((name) => name !== "");
  const folders = [root];
  for (const name of names) folders.push(`${folders.at(-1) === "/" ? "" : folders.at(-1)}/${name}`);
  return folders;
}

/** The files of these folders. */
export function inFolders(
  folders: readonly string[],
  scope: InstructionScope,
  within: readonly string[],
): readonly Candidate[] {
  return folders.flatMap((dir) =>
    INSTRUCTION_NAMES.map((name) => ({ path: `${dir === "/" ? "" : dir}/${name}`, scope, within })),
  );
}
