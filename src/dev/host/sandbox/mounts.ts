/**
 * What a sandboxed program sees of the host's files, as the mounts of bubblewrap: a pure function of the profile and of what
 * lies at its paths. The host is there to be read; a mount that lies deeper stands over one that lies higher.
 *
 * A path that is protected below a writable place is bound read-only, and each directory between both onto itself: what is a
 * mount can be neither renamed nor removed, or else `mv .git x; mkdir .git` would put another in its place.
 */
import { dirname } from "node:path/posix";
import type { SandboxProfile } from "../../../abi/sandbox.ts";
import { isWithin } from "../../../lib/path.ts";
import { KERNEL_PLACES } from "./kernel-files.ts";

export type Kind = "file" | "directory" | "link" | "absent";

export type Mount =
  /** Writable, as it is. */
  | { readonly op: "write"; readonly path: string }
  /** Read-only, as it is. */
  | { readonly op: "read"; readonly path: string }
  /** Nothing can be seen of it, and nothing made in it. */
  | { readonly op: "blank"; readonly path: string; readonly kind: "file" | "directory" }
  /** A folder of the host's at another place. */
  | { readonly op: "place"; readonly path: string; readonly from: string }
  /** An empty folder of its own in which other mounts lie; `isOpen`: it may be written. */
  | { readonly op: "empty"; readonly path: string; readonly isOpen: boolean };

interface MountPlan {
  readonly mounts: readonly Mount[];
  /** Directories that are not there: made and removed with the program, so that it cannot make them. */
  readonly missing: readonly string[];
  /** What cannot be held while it runs, looked at when it is over: files that are not there, links. */
  readonly watched: readonly string[];
}

/** Not that of the host: the folder of its process, or one of its own to each program. */
const PRIVATE = "/tmp";

type Wish = "write" | "protect" | "hide" | "show" | "private" | "step";

export function planMounts(profile: SandboxProfile, look: (path: string) => Kind): MountPlan {
  const wishes = new Map<string, Wish>([[PRIVATE, "private"]]);
  for (const path of profile.write)
    if (look(path) !== "absent" && !isOfKernel(path)) wishes.set(bare(path), "write");
  const guarded = profile.protect.map((path) => guard(path, profile, look)).filter((each) => each !== null);
  const tmp = profile.tmp !== undefined && look(profile.tmp) === "directory" ? profile.tmp : undefined;
  if (tmp !== undefined) wishes.set(tmp, "write");
  for (const { path, kind } of guarded) if (kind !== "link" && kind !== "file?") wishes.set(path, "protect");
  for (const path of profile.hide) if (isThere(look(path))) wishes.set(bare(path), "hide");
  for (const path of profile.show)
    if (isThere(look(path)) && !isOfKernel(path)) wishes.set(bare(path), "show");
  const kept = prune(wishes);
  addSteps(kept);
  const isKept = ({ path }: Guarded) => kept.has(path);
  return {
    mounts: byDepth(kept).map(
      (each) => (tmp === undefined ? null : tmpOf(each, kept, tmp)) ?? mountOf(each, kept, look),
    ),
    missing: guarded.filter((each) => each.kind === "directory?" && isKept(each)).map(({ path }) => path),
    watched: guarded
      .filter(({ path, kind }) => (kind === "file?" || kind === "link") && isWritable(path, kept))
      .map(({ path }) => path),
  };
}

/** Its own there, or read-only, whoever may write. Files in memory are files. */
function isOfKernel(path: string): boolean {
  return KERNEL_PLACES.some((place) => isWithin(place, path)) && !isWithin("/dev/shm", path);
}

const isThere = (kind: Kind) => kind === "file" || kind === "directory";

/** `x/` is a directory, also while it is not there. */
function bare(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

interface Guarded {
  readonly path: string;
  /** `?`: not there; what stands there is what would be made. */
  readonly kind: "there" | "link" | "directory?" | "file?";
}

/** Of a path that is not there, the first part that is missing is what must not be made. */
function guard(path: string, { write }: SandboxProfile, look: (path: string) => Kind): Guarded | null {
  const whole = bare(path);
  const root = write.map(bare).find((dir) => isWithin(dir, whole));
  if (root === undefined) return null;
  const kind = look(whole);
  if (kind === "link") return { path: whole, kind: "link" };
  if (kind !== "absent") return { path: whole, kind: "there" };
  let missing = whole;
  while (dirname(missing) !== "/" && look(dirname(missing)) === "absent") missing = dirname(missing);
  if (!isWithin(root, missing) || missing === root) return null;
  return { path: missing, kind: missing !== whole || path.endsWith("/") ? "directory?" : "file?" };
}

/** The nearest wish above a path; undefined: the host, read-only. */
function above(path: string, wishes: ReadonlyMap<string, Wish>): Wish | undefined {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    const found = wishes.get(dir);
    if (found !== undefined) return found;
    if (dir === "/") return undefined;
  }
}

function isWritable(path: string, wishes: ReadonlyMap<string, Wish>): boolean {
  const wish = above(path, wishes);
  return wish === "write" || wish === "step";
}

/** What changes nothing where it stands: it would only cost time, or show what is hidden. */
function prune(wishes: ReadonlyMap<string, Wish>): Map<string, Wish> {
  const kept = new Map<string, Wish>();
  for (const [path, wish] of byDepth(wishes)) {
    const over = path === PRIVATE ? undefined : above(path, kept);
    const isHidden = over === "hide" || over === "private";
    const matters =
      wish === "private" ||
      (wish === "write" && over !== "write") ||
      (wish === "protect" && over === "write") ||
      (wish === "hide" && !isHidden) ||
      (wish === "show" && isHidden);
    if (matters) kept.set(path, wish);
  }
  return kept;
}

function addSteps(wishes: Map<string, Wish>): void {
  for (const [path, wish] of [...wishes]) {
    if (wish !== "protect") continue;
    for (let dir = dirname(path); !wishes.has(dir) && dir !== "/"; dir = dirname(dir))
      wishes.set(dir, "step");
  }
}

function byDepth(wishes: ReadonlyMap<string, Wish>): [string, Wish][] {
  const depth = (path: string) => (path === "/" ? 0 : path.split("/").length);
  return [...wishes].sort(([a], [b]) => depth(a) - depth(b) || (a < b ? -1 : 1));
}

/**
 * What must lie in it would leave its folders in that of the process, and where a program may put links nothing is mounted: then it
 * is as without.
 */
function tmpOf([path]: [string, Wish], all: ReadonlyMap<string, Wish>, from: string): Mount | null {
  if (path !== PRIVATE) return null;
  const isAlone = [...all.keys()].every((each) => each === PRIVATE || !isWithin(PRIVATE, each));
  return isAlone ? { op: "place", path, from } : null;
}

function mountOf(
  [path, wish]: [string, Wish],
  all: ReadonlyMap<string, Wish>,
  look: (path: string) => Kind,
): Mount {
  switch (wish) {
    case "write":
    case "step":
      return { op: "write", path };
    case "show":
      return { op: "read", path };
    case "private":
      return { op: "empty", path, isOpen: true };
    case "protect":
      return look(path) === "absent" ? { op: "blank", path, kind: "directory" } : { op: "read", path };
    case "hide": {
      if (look(path) === "file") return { op: "blank", path, kind: "file" };
      const holdsMore = [...all.keys()].some((each) => each !== path && isWithin(path, each));
      return holdsMore ? { op: "empty", path, isOpen: false } : { op: "blank", path, kind: "directory" };
    }
  }
}
