/**
 * Searches Crux's own files, which ripgrep cannot reach: one file, or those of a directory, as many as one call may
 * read.
 */
import { posix } from "node:path";
import { codeOf } from "../../abi/errors.ts";
import { cruxFile, cruxNames, isCruxDirectory } from "../crux-tree.ts";
import { failure } from "../failure.ts";
import type { Io } from "../files.ts";
import type { FileHits } from "./hits.ts";
import { searchText, type TextPattern } from "./text-search.ts";

/** Per call: as much as it may store under /var/out. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 100;

interface CruxHits {
  readonly hits: readonly FileHits[];
  /** Files that were not searched. */
  readonly notes: readonly string[];
}

/** `shown`: the path as the caller wrote it. */
export async function searchCrux(
  io: Io,
  { path, shown }: { readonly path: string; readonly shown: string },
  wanted: TextPattern,
): Promise<CruxHits> {
  if (!isFolder(path)) {
    const text = (await cruxFile(io, path, MAX_BYTES)).toString("utf8");
    return { hits: [searchText(shown, text, wanted)], notes: [] };
  }
  if (path === "/mnt/mcp")
    throw failure("INVALID", "a search needs one server", "ls /mnt/mcp has their names");
  const found = await filesBelow(io, path);
  const files = found.slice(0, MAX_FILES);
  const hits: FileHits[] = [];
  let [left, unread] = [MAX_BYTES, 0];
  for (const below of files) {
    const text = await findText(io, posix.join(path, below), left);
    if (text === undefined) unread++;
    else hits.push(searchText(posix.join(shown, below), text.toString("utf8"), wanted));
    left -= text?.byteLength ?? 0;
    if (left <= 0) break;
  }
  const isAll = files.length === found.length && left > 0;
  const notes = [
    ...(isAll ? [] : [`[${hits.length + unread} of ${found.length} files were searched; name one]`]),
    ...(unread === 0 ? [] : [`[${unread} files could not be read]`]),
  ];
  return { hits: hits.filter(({ groups }) => groups.length > 0), notes };
}

/** The list of a server's tools is searched as one text. */
function isFolder(path: string): boolean {
  return isCruxDirectory(path) && !/^\/mnt\/mcp\/[^/]+\/tools$/.test(path);
}

/** All files below a directory; beyond what one call searches, subdirectories are counted but not listed. */
async function filesBelow(io: Io, path: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const name of await cruxNames(io, path)) {
    const at = posix.join(path, name);
    if (!isFolder(at) || files.length >= MAX_FILES) files.push(name);
    else for (const below of await namesOf(io, at)) files.push(posix.join(name, below));
  }
  return files;
}

/** Empty if the process ended meanwhile. */
function namesOf(io: Io, path: string): Promise<readonly string[]> {
  return cruxNames(io, path).catch((error: unknown) => unlessOver(error, []));
}

/** undefined: it is gone meanwhile, or its server fails; the other files are still searched. */
function findText(io: Io, path: string, maxBytes: number): Promise<Buffer | undefined> {
  return cruxFile(io, path, maxBytes).catch((error: unknown) => unlessOver(error, undefined));
}

function unlessOver<T>(error: unknown, none: T): T {
  if (codeOf(error) === "CANCELLED") throw error;
  return none;
}
