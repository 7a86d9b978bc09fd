/**
 * The requests `grep` and `files`: run ripgrep with fixed arguments. No pattern, glob or path can be taken for an
 * option.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import picomatch from "picomatch";
import type { FilesAnswer, FilesRequest, GrepAnswer, GrepRequest } from "../../abi/ops/fs.ts";
import { findMatching } from "../../lib/text/find-matching.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { findEntry } from "./regular.ts";
import type { Ripgrep, RipgrepOutput } from "./ripgrep.ts";

const defaultContext = 2;
const defaultLimit = 1_000;
/** Files examined before other tasks get a turn. */
const statBatch = 2_000;
/** `--no-config`: a configuration file of the user could add options. */
const always = ["--no-config", "--null", "--hidden", "--glob", "!.git"];

interface SearchScope {
  /** The real path to search. */
  readonly real: string;
  readonly roots: readonly string[];
  readonly owner: string;
  /** Files that are read only if the user was asked about that very file. */
  readonly isSecret: (path: string) => boolean;
}

export class Search {
  readonly #rg: Ripgrep;
  readonly #place: SearchScope;
  readonly #signal: AbortSignal;

  constructor(rg: Ripgrep, place: SearchScope, signal: AbortSignal) {
    this.#rg = rg;
    this.#place = place;
    this.#signal = signal;
  }

  async grep(request: GrepRequest): Promise<GrepAnswer> {
    const where = await whereToSearch(this.#place.real);
    const args = [...grepFlags(request), "-e", request.pattern, ...where.args];
    const found = await this.#run({ args, cwd: where.cwd, cutsLines: request.output === "content" });
    const end = request.output === "files" ? "\0" : "\n";
    const printed = withoutDot(whole(found, end).toString("utf8"), request);
    const stdout = where.isDirectory ? withoutSecrets(printed, end, this.#place) : printed;
    // ripgrep's exit code for no match
    const exitCode = stdout === "" && found.exitCode === 0 ? 1 : found.exitCode;
    return { exit_code: exitCode, stdout, stderr: found.stderr, partial: found.partial };
  }

  /** Newest modification first, then by name. */
  async files({ glob, no_ignore, offset = 0, limit = defaultLimit }: FilesRequest): Promise<FilesAnswer> {
    const meant = glob === undefined ? (all: readonly string[]) => all : globFilter(glob);
    const where = await whereToSearch(this.#place.real);
    const depth = depthOf(glob ?? "");
    const limits = [
      ...(no_ignore ? ["--no-ignore"] : []),
      ...(depth === undefined ? [] : [`--max-depth=${depth}`]),
    ];
    const args = ["--files", ...always, ...limits, ...where.args];
    const found = await this.#run({ args, cwd: where.cwd });
    if (found.exitCode > 1 && found.stdout.byteLength === 0)
      throw driverError("Write", "INVALID", found.stderr.trim() || "the search failed");
    const listed = whole(found, "\0").toString("utf8").split("\0").filter(Boolean);
    const names = meant(listed.map((name) => name.replace(/^\.\//, "")));
    const all = await withTimes(where.cwd, names, this.#signal);
    all.sort((a, b) => b.mtime_ms - a.mtime_ms || (a.path < b.path ? -1 : 1));
    return { files: all.slice(offset, offset + limit), total: all.length, partial: found.partial };
  }

  #run(search: { args: readonly string[]; cwd: string; cutsLines?: boolean }): Promise<RipgrepOutput> {
    const { owner, real, roots } = this.#place;
    return this.#rg.run({ ...search, real, owner }, roots, this.#signal);
  }
}

function grepFlags(request: GrepRequest): string[] {
  const shape = {
    content: ["-n", "--column", "--no-heading", `--context=${request.context ?? defaultContext}`],
    files: ["--files-with-matches"],
    count: ["--count"],
  };
  return [
    ...always,
    ...shape[request.output],
    "--with-filename",
    "--color=never",
    ...(request.literal ? ["-F"] : []),
    ...(request.case_insensitive ? ["-i"] : []),
    ...(request.multiline ? ["-U"] : []),
    ...(request.no_ignore ? ["--no-ignore"] : []),
    ...(request.type === undefined ? [] : [`--type=${request.type}`]),
    ...(request.include === undefined ? [] : [`--glob=${request.include}`]),
  ];
}

/**
 * A directory is searched from within, so that globs are relative to it. It is still named as an argument: without a
 * path, ripgrep reports an error if every file was filtered out.
 */
async function whereToSearch(real: string): Promise<{ cwd: string; args: string[]; isDirectory: boolean }> {
  const stats = await findEntry(real, "Write");
  if (stats === undefined) throw driverError("Write", "NOT_FOUND", `file not found: ${real}`);
  const isDirectory = stats.isDirectory();
  return isDirectory
    ? { cwd: real, args: ["--", "."], isDirectory }
    : { cwd: "/", args: ["--", real], isDirectory };
}

/**
 * Removes secret files from the output (matches, counts and names, which also reveal content), as only the directory
 * was named. If the named path is itself secret, the user was asked about it.
 */
function withoutSecrets(stdout: string, end: "\n" | "\0", { real, isSecret }: SearchScope): string {
  if (isSecret(real)) return stdout;
  const known = new Map<string, boolean>();
  const isLeftOut = (piece: string): boolean => {
    const at = piece.indexOf("\0");
    const path = at < 0 ? piece : piece.slice(0, at);
    const isKnown = known.get(path) ?? isSecret(join(real, path));
    known.set(path, isKnown);
    return isKnown;
  };
  const kept: string[] = [];
  let isApart = false;
  for (const piece of stdout.split(end)) {
    if (piece === "--") isApart = kept.length > 0;
    else if (piece !== "" && !isLeftOut(piece)) {
      if (isApart) kept.push("--");
      isApart = false;
      kept.push(piece);
    }
  }
  return kept.map((piece) => piece + end).join("");
}

/** Removes the `./` that ripgrep puts before each path found in `.`: at the start of each line, or of each name. */
function withoutDot(stdout: string, { output }: GrepRequest): string {
  return output === "files" ? stdout.replace(/(^|\0)\.\//g, "$1") : stdout.replace(/(^|\n)\.\//g, "$1");
}

/** Drops the last, incomplete piece of a truncated search. */
function whole(found: RipgrepOutput, end: "\n" | "\0"): Buffer {
  return found.partial ? found.stdout.subarray(0, found.stdout.lastIndexOf(end) + 1) : found.stdout;
}

/** A file that was removed meanwhile is left out. */
async function withTimes(
  cwd: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<FilesAnswer["files"]> {
  const all: FilesAnswer["files"] = [];
  for (const [index, path] of names.entries()) {
    if (index % statBatch === statBatch - 1) await breathe();
    throwIfAborted(signal, "Write");
    const stats = lstatSync(join(cwd, path), { throwIfNoEntry: false });
    if (stats !== undefined) all.push({ path, mtime_ms: stats.mtimeMs, size: stats.size });
  }
  return all;
}

/**
 * Bound on a glob. A glob selects paths below a directory, as in ripgrep and gitignore: without a slash it matches at
 * any depth, and hidden files count. It is not passed to ripgrep itself, where a glob that matches a directory would
 * include ignored files.
 */
const MAX_CHARS = 1_000;

/** Time limit for matching all names of one search. */
const GLOB_MS = 500;

/**
 * Returns a filter for the paths that match the glob. INVALID: a glob that cannot match anything: an unclosed bracket
 * or brace. TIMEOUT: matching the names takes longer than `maxMs`.
 */
export function globFilter(glob: string, maxMs = GLOB_MS): (paths: readonly string[]) => readonly string[] {
  const anchored = glob.replace(/^\.?\//, "");
  const pattern = anchored === glob && !glob.includes("/") ? `**/${glob}` : anchored;
  if (glob === "" || glob.length > MAX_CHARS || !isClosed(glob))
    throw driverError("Write", "INVALID", `not a glob: ${glob.slice(0, 100)}`);
  // é counts as the same letter whether it is one character or two
  const regex = picomatch.makeRe(pattern.normalize("NFC"), { dot: true });
  return (paths) => {
    const composed = paths.map((path) => path.normalize("NFC"));
    const found = findMatching(regex, composed, maxMs);
    if (found === null)
      throw driverError("Write", "TIMEOUT", `the glob takes too long on these names: ${glob.slice(0, 100)}`);
    const meant = new Set(found);
    // a glob with brackets may also be the literal name of a file
    return paths.filter((path, at) => meant.has(at) || path === pattern);
  };
}

/** How many levels deep a glob can match; undefined: any number. */
export function depthOf(glob: string): number | undefined {
  if (!glob.includes("/") || /\*\*|[{}()]/.test(glob)) return undefined;
  return glob.replace(/^\.?\//, "").split("/").length;
}

function isClosed(glob: string): boolean {
  const open = { "[": 0, "{": 0 };
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i];
    if (char === "\\") i++;
    else if (char === "[" && open["["] === 0) open["["] = 1;
    else if (char === "]") open["["] = 0;
    else if (char === "{") open["{"]++;
    else if (char === "}") open["{"]--;
  }
  return open["["] === 0 && open["{"] === 0;
}
