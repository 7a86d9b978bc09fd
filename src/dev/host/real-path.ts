/** Resolves where a path leads, whether or not it exists; permission is decided on the result. */
import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
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
export const realPath: RealPath = (path) => {
  if (!path.startsWith("/") || path.includes("\0"))
    throw driverError("Open", "INVALID", `not an absolute path: ${JSON.stringify(path)}`);
  try {
    return realpathSync.native(path);
  } catch {
    return walk(path);
  }
};

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
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // missing or not readable: we cannot follow it either
    return undefined;
  }
}
