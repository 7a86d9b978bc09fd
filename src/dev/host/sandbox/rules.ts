/**
 * Turns a mount plan into the rules of Landlock: a pure function of the plan and of the folders on the way to what it
 * hides.
 *
 * A rule gives a right to a folder and all below it, and no rule takes one away. So where something inside is hidden, the
 * folder itself gets no rule but each other entry of it: in a writable folder that holds a hidden file nothing new can
 * be made beside it. A protected path in a writable folder would ask for the same, and nobody could commit any more;
 * these are guarded instead (guard.ts).
 */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { isWithin } from "../../../lib/path.ts";
import { driverError } from "../../driver-error.ts";
import type { Guarded } from "./guard.ts";
import type { Mount } from "./mounts.ts";

export interface Rule {
  /** `use`: read, write and control a device; `list`: the names in it and below it. */
  readonly right: "read" | "write" | "use" | "list";
  readonly path: string;
}

interface Rules {
  readonly rules: readonly Rule[];
  /** Existing paths in writable folders that must not change. */
  readonly guarded: readonly Guarded[];
}

interface Entry {
  readonly name: string;
  readonly kind: "directory" | "file" | "other";
}

type Access = "none" | "read" | "write";

const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"].map((name) => `/dev/${name}`);
/** Bound on the rules: each is a file to open at the start of every command. */
const maxRules = 4_096;

/** `entriesOf`: the entries of a folder; none if it cannot be read. UNAVAILABLE: too many rules. */
export function rulesOf(mounts: readonly Mount[], entriesOf: (folder: string) => readonly Entry[]): Rules {
  const wished = new Map<string, Access>([["/", "read"], ...mounts.map(accessOf)]);
  // whatever the profile opens, the kernel's files are closed, and devices of others
  for (const path of ["/proc", "/sys"]) wished.set(path, "read");
  wished.set("/dev", "none");
  const guarded = [...wished].flatMap(([path, access]) =>
    access === "read" && above(path, wished) === "write" && !isOfKernel(path)
      ? [{ path, root: rootOf(path, wished) }]
      : [],
  );
  for (const { path } of guarded) wished.delete(path);
  const rules: Rule[] = DEVICES.map((path) => ({ right: "use", path }));
  const give = (right: Rule["right"], path: string) => {
    if (rules.push({ right, path }) > maxRules)
      throw driverError(
        "Open",
        "UNAVAILABLE",
        `the sandbox has too many rules: ${path} lies beside what is hidden`,
      );
  };
  const walk = (path: string, access: Access): void => {
    const below = [...wished].filter(([each]) => each !== path && isWithin(path, each));
    if (below.every(([, other]) => RANK[other] >= RANK[access])) {
      if (access !== "none") give(access, path);
      const more = below.filter(([, other]) => other !== access);
      const isTop = (each: string) => !more.some(([over]) => over !== each && isWithin(over, each));
      for (const [each, other] of more) if (isTop(each)) walk(each, other);
      return;
    }
    if (access !== "none") give("list", path);
    for (const { name, kind } of entriesOf(path)) {
      const each = join(path, name);
      const own = wished.get(each);
      const holdsMore = below.some(([other]) => isWithin(each, other));
      if (own !== undefined || (holdsMore && kind === "directory")) walk(each, own ?? access);
      else if (kind !== "other" && access !== "none") give(access, each);
    }
  };
  walk("/", wished.get("/") ?? "read");
  return { rules, guarded };
}

/** The options of the keeper (../landlock-in-perl.ts). */
export function ruleArguments(
  rules: readonly Rule[],
  { isOnHost, filterFd }: { readonly isOnHost: boolean; readonly filterFd: number },
): readonly string[] {
  return [
    ...rules.flatMap(({ right, path }) => [`--${right}`, path]),
    ...(isOnHost ? ["--net"] : []),
    ...["--seccomp", String(filterFd)],
  ];
}

const RANK = { none: 0, read: 1, write: 2 } as const;

const isOfKernel = (path: string): boolean => ["/proc", "/sys", "/dev"].includes(path);

function accessOf({ op, path }: Mount): readonly [string, Access] {
  return [path, op === "write" || op === "read" ? op : "none"];
}

/** What the nearest parent with a wish gives. */
function above(path: string, wished: ReadonlyMap<string, Access>): Access {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    const found = wished.get(dir);
    if (found !== undefined && dir !== path) return found;
    if (dir === "/") return "read";
  }
}

/** The outermost writable folder without a gap: in it no program can replace what is on the way, but below it. */
function rootOf(path: string, wished: ReadonlyMap<string, Access>): string {
  let root = path;
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    const access = wished.get(dir);
    if (access === "write") root = dir;
    if (dir === "/" || (access !== undefined && access !== "write")) return root;
  }
}

/** None if the folder cannot be read. */
export function entriesOf(folder: string): readonly Entry[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isDirectory() ? "directory" : entry.isFile() || entry.isFIFO() ? "file" : "other",
    }));
  } catch {
    return [];
  }
}
