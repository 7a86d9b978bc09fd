/** Resolves a path of the host for tests of the policy: link by link, whether or not it exists. */
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";

export function realPath(path: string): string {
  let real = "/";
  const rest = path.split("/").reverse();
  for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      real = dirname(real);
      continue;
    }
    const next = join(real, name);
    const target = linkAt(next);
    if (target?.startsWith("/")) real = "/";
    if (target === undefined) real = next;
    else rest.push(...target.split("/").reverse());
  }
  return real;
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
