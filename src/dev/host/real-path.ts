/** Resolves where a path leads, whether or not it exists; permission is decided on the result. */
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RealPath } from "../../kernel/ports/host.ts";
import { driverError } from "../driver-error.ts";

const maxLinks = 40;

/**
 * Walks segment by segment, so that `..` is the parent of a link's target, and a link to a missing file still shows
 * where a write through it would go. A name that does not exist stands for an existing one with the same letters in
 * another Unicode composition (é as one character or as two), if there is exactly one: macOS stores such names, which
 * nobody types. INVALID: a relative path, NUL, or more than 40 links.
 */
export const realPath: RealPath = Object.assign(resolve, { atOnce });

function resolve(path: string): string {
  if (!path.startsWith("/") || path.includes("\0"))
    throw driverError("Open", "INVALID", `not an absolute path: ${JSON.stringify(path)}`);
  try {
    // an exception costs more than all of this: what does not exist is found out without one
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync.native(path);
    return missing(path) ?? walk(path);
  } catch {
    return walk(path);
  }
}

/**
 * The common case of a path that leads nowhere: the real path of the nearest ancestor that exists, and below it plain
 * names of which the first is not there, so none of the others can be. undefined: only the walk can tell.
 */
function missing(path: string): string | undefined {
  if (!PLAIN.test(path)) return undefined;
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const above = path.slice(0, end);
    if (statSync(above, { throwIfNoEntry: false }) === undefined) continue;
    const real = join(realpathSync.native(above), path.slice(end));
    const next = path.indexOf("/", end + 1);
    const first = next === -1 ? path : path.slice(0, next);
    return lstatSync(first, { throwIfNoEntry: false }) === undefined ? real : undefined;
  }
  return undefined;
}

/** The same for many paths at one moment: each name on the way to them is looked at once. */
function atOnce(): RealPath {
  const seen = new Map<string, Place>([["/", { real: "/", isThere: true }]]);
  const look = (path: string): Place => {
    const known = seen.get(path);
    if (known !== undefined) return known;
    const place = below(look(dirname(path)), path);
    seen.set(path, place);
    return place;
  };
  return (path) => {
    // what is there may be spelled in another case on these volumes, which only the system knows
    if (process.platform === "darwin" || !PLAIN.test(path)) return resolve(path);
    try {
      return look(path).real;
    } catch {
      return resolve(path);
    }
  };
}

interface Place {
  readonly real: string;
  readonly isThere: boolean;
}

/** Throws what the system says, except that nothing is there. */
function below(parent: Place, path: string): Place {
  const real = join(parent.real, path.slice(path.lastIndexOf("/") + 1));
  const stat = parent.isThere ? lstatSync(real, { throwIfNoEntry: false }) : undefined;
  if (stat?.isSymbolicLink() !== true) return { real, isThere: stat !== undefined };
  return { real: resolve(real), isThere: statSync(real, { throwIfNoEntry: false }) !== undefined };
}

/** ASCII names without `.`, `..` and empty ones. */
const PLAIN = /^(?:\/(?!\.{1,2}(?:\/|$))[ -.0-~]+)+$/;

function walk(path: string): string {
  let real = "/";
  let linksLeft = maxLinks;
  const rest = path.split("/").reverse();
  for (let segment = rest.pop(); segment !== undefined; segment = rest.pop()) {
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      real = dirname(real);
      continue;
    }
    const next = join(real, nameIn(real, segment));
    const target = findLink(next);
    if (target === undefined) {
      real = next;
      continue;
    }
    if (linksLeft-- === 0) throw driverError("Open", "INVALID", `too many symbolic links: ${path}`);
    if (target.startsWith("/")) real = "/";
    rest.push(...target.split("/").reverse());
  }
  return real;
}

/** ASCII names have only one form, so they are not looked up. */
function nameIn(directory: string, name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\x00-\x7f]*$/.test(name) || isThere(join(directory, name))) return name;
  const meant = name.normalize("NFC");
  const [found, ...others] = namesIn(directory).filter((other) => other.normalize("NFC") === meant);
  return found === undefined || others.length > 0 ? name : found;
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

function findLink(path: string): string | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
  } catch {
    // missing or not readable: we cannot follow it either
    return undefined;
  }
}
