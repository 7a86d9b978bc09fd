/** Where a path leads, whether or not it exists: what permission is decided on. */
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RealPath } from "../../kernel/ports/host.ts";
import { driverError } from "../driver-error.ts";

const maxLinks = 40;

/**
 * Walks segment by segment, so that `..` is the parent of what a link leads to, and a link to something that does not exist
 * yet still shows where a write through it would go. INVALID: a relative path, NUL, or more than 40 links.
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
    const next = join(real, segment);
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

function findLink(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // missing or not to be seen: it cannot be followed by us either
    return undefined;
  }
}
