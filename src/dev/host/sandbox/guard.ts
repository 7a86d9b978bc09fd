/**
 * Guards protected files in writable folders where nothing can be mounted over them: what is there is read before the
 * program begins, and compared when all of it has ended. What was changed is moved aside, under a name that no program
 * reads, and what was there is put back.
 *
 * Folders are walked from the writable one down, each held open and never by way of a link: whatever a program has put in
 * the place of a folder, no file elsewhere is touched.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { driverError, errnoOf } from "../../driver-error.ts";
import { openFolder } from "../../folder.ts";
import { ASIDE, moveAside } from "./watch.ts";

export interface Guarded {
  /** The writable folder. */
  readonly root: string;
  readonly path: string;
}

/** One entry. A file is kept with its content. */
interface Entry {
  readonly kind: "folder" | "file" | "link" | "other";
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** The content of a file, the text of a link. */
  readonly content: Buffer;
}

/** Bounds on what is read before each command. */
const maxEntries = 4_096;
const maxBytes = 16 * 1024 * 1024;

/** Returns the function that compares; call it once. It returns what was changed, in words. UNAVAILABLE: too much. */
export function guard(places: readonly Guarded[]): () => readonly string[] {
  const roots = new Map<string, number>();
  const close = () => {
    for (const fd of roots.values()) closeSync(fd);
  };
  try {
    for (const { root } of places) if (!roots.has(root)) roots.set(root, openFolder(root));
    const before = places.map((place) => ({ place, was: seenAt(place.path) }));
    return () => {
      try {
        return before.flatMap(({ place, was }) => new PutBack(place, was).run(roots.get(place.root) ?? -1));
      } finally {
        close();
      }
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** What is at a path and below it, by the way from there; "" is the path itself. */
function seenAt(path: string): ReadonlyMap<string, Entry> {
  const seen = new Map<string, Entry>();
  let bytes = 0;
  const left = [""];
  for (let way = left.pop(); way !== undefined; way = left.pop()) {
    const each = join(path, way);
    const entry = entryAt(each);
    if (entry === undefined) continue;
    seen.set(way, entry);
    bytes += entry.content.length;
    if (entry.kind === "folder") left.push(...readdirSync(each).map((name) => join(way, name)));
    if (seen.size > maxEntries || bytes > maxBytes)
      throw driverError("Open", "UNAVAILABLE", `the sandbox cannot guard ${path}: too much lies there`);
  }
  return seen;
}

/** undefined: nothing is there. */
function entryAt(path: string): Entry | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const { uid, gid } = stat;
  const own = { mode: stat.mode & 0o7777, uid, gid, content: Buffer.alloc(0) };
  if (stat.isDirectory()) return { ...own, kind: "folder" };
  if (stat.isSymbolicLink()) return { ...own, kind: "link", content: Buffer.from(readlinkSync(path)) };
  if (!stat.isFile() || stat.size > maxBytes) return { ...own, kind: "other" };
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!fstatSync(fd).isFile()) return { ...own, kind: "other" };
      return { ...own, kind: "file", content: readFileSync(fd) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errnoOf(error) === "EACCES") return { ...own, kind: "other" };
    throw error;
  }
}

class PutBack {
  readonly #place: Guarded;
  readonly #before: ReadonlyMap<string, Entry>;
  /** The names that were in each folder, by its way. */
  readonly #names = new Map<string, string[]>();
  readonly #open: number[] = [];
  readonly #told: string[] = [];

  constructor(place: Guarded, before: ReadonlyMap<string, Entry>) {
    this.#place = place;
    this.#before = before;
    for (const way of before.keys()) {
      if (way === "") continue;
      const folder = dirname(way) === "." ? "" : dirname(way);
      this.#names.set(folder, [...(this.#names.get(folder) ?? []), basename(way)]);
    }
  }

  run(root: number): readonly string[] {
    const { path, root: rootPath } = this.#place;
    try {
      let at = `/proc/self/fd/${root}`;
      for (const name of relative(rootPath, dirname(path)).split("/").filter(Boolean)) {
        const now = entryAt(join(at, name));
        // without it, nothing lies at the path: what stood there is put back all the same
        if (now !== undefined && now.kind !== "folder") moveAside({ at, name });
        if (now?.kind !== "folder") mkdirSync(join(at, name));
        at = this.#enter(join(at, name));
      }
      this.#compare(at, basename(path), "");
      return this.#told;
    } finally {
      for (const fd of this.#open) closeSync(fd);
    }
  }

  #compare(at: string, name: string, way: string): void {
    const was = this.#before.get(way);
    const now = entryAt(join(at, name));
    if (!isSame(was, now)) this.#mend(at, name, way);
    if (was?.kind !== "folder") return;
    const inside = this.#enter(join(at, name));
    const present = readdirSync(inside).filter((each) => !each.includes(ASIDE));
    for (const each of new Set([...(this.#names.get(way) ?? []), ...present]))
      this.#compare(inside, each, join(way, each));
  }

  #mend(at: string, name: string, way: string): void {
    const was = this.#before.get(way);
    const shown = join(this.#place.path, way);
    const isThere = entryAt(join(at, name)) !== undefined;
    const aside = isThere ? join(dirname(shown), moveAside({ at, name })) : "";
    if (was !== undefined) make(join(at, name), was);
    const did = was === undefined ? "made" : isThere ? "changed" : "removed";
    const back =
      was === undefined ? "" : was.kind === "other" ? "; it could not be kept" : "; it is as before";
    this.#told.push(
      `${shown} was ${did}${back}${aside === "" ? "" : `; what it had become is now ${aside}`}`,
    );
  }

  #enter(folder: string): string {
    const fd = openFolder(folder);
    this.#open.push(fd);
    return `/proc/self/fd/${fd}`;
  }
}

function isSame(was: Entry | undefined, now: Entry | undefined): boolean {
  if (was === undefined || now === undefined) return was === now;
  if (was.kind !== now.kind || !was.content.equals(now.content)) return false;
  return was.kind === "link" || was.mode === now.mode;
}

function make(path: string, { kind, mode, uid, gid, content }: Entry): void {
  if (kind === "other") return;
  if (kind === "folder") mkdirSync(path);
  if (kind === "link") symlinkSync(content.toString(), path);
  if (kind === "file") writeFileSync(path, content, { flag: "wx" });
  if (process.getuid?.() === 0) lchownSync(path, uid, gid);
  if (kind !== "link") chmodSync(path, mode);
}
