/**
 * Plans the mounts through which a sandboxed program sees the host's files: a pure function of the profile and of the
 * files at its paths. The host is readable; a deeper mount covers a higher one.
 *
 * A protected path below a writable one is bound read-only, and each directory in between is bound onto itself: a
 * mount point can be neither renamed nor removed, while otherwise `mv .git x; mkdir .git` would put another in its
 * place. So are the directories above a hidden path: moved along with them, it would be seen by the next program, which
 * knows it by its place.
 */
import { dirname } from "node:path/posix";
import type { SandboxProfile } from "../../../abi/sandbox.ts";
import { isWithin } from "../../../lib/path.ts";
import { KERNEL_PLACES } from "./kernel-files.ts";

export type Kind = "file" | "directory" | "link" | "absent";

export type Mount =
  /** The host's file or folder, writable. */
  | { readonly op: "write"; readonly path: string }
  /** The host's file or folder, read-only. */
  | { readonly op: "read"; readonly path: string }
  /** Hidden: its contents cannot be seen, and nothing can be made in it. */
  | { readonly op: "blank"; readonly path: string; readonly kind: "file" | "directory" }
  /** A folder of the host, mounted at another path. */
  | { readonly op: "place"; readonly path: string; readonly from: string }
  /** A new empty folder in which other mounts lie; `isOpen`: writable. */
  | { readonly op: "empty"; readonly path: string; readonly isOpen: boolean };

interface MountPlan {
  readonly mounts: readonly Mount[];
  /**
   * Directories that do not exist: created before the program and removed after it, so that it cannot create them.
   */
  readonly missing: readonly string[];
  /** Paths that no mount can protect, checked after the program has ended: missing files, links. */
  readonly watched: readonly string[];
}

/** Never the host's `/tmp`: either the folder of the process, or a new empty one for each program. */
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
  const watched = guarded
    .filter(({ path, kind }) => (kind === "file?" || kind === "link") && isWritable(path, kept))
    .map(({ path }) => path);
  addSteps(kept, watched);
  const isKept = ({ path }: Guarded) => kept.has(path);
  return {
    mounts: byDepth(kept).map(
      (each) => (tmp === undefined ? null : tmpOf(each, kept, tmp)) ?? mountOf(each, kept, look),
    ),
    missing: guarded.filter((each) => each.kind === "directory?" && isKept(each)).map(({ path }) => path),
    watched,
  };
}

/**
 * True for kernel files: the sandbox has its own, or they are read-only, whatever the profile allows. Files in
 * /dev/shm are ordinary files.
 */
function isOfKernel(path: string): boolean {
  return KERNEL_PLACES.some((place) => isWithin(place, path)) && !isWithin("/dev/shm", path);
}

const isThere = (kind: Kind) => kind === "file" || kind === "directory";

/** Drops the trailing slash; `x/` means a directory, even if it does not exist. */
function bare(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

interface Guarded {
  readonly path: string;
  /** `?`: does not exist; the word is the kind that would be created there. */
  readonly kind: "there" | "link" | "directory?" | "file?";
}

/** For a path that does not exist, guards its first missing part, which must not be created. */
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

/** The wish of the nearest parent that has one; undefined: the host, read-only. */
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

/** Removes wishes that change nothing: they would only take time, or show what is hidden. */
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

/**
 * The folders above each path that a program could move otherwise: no other folder can take their place. So a program can
 * put nothing in the place of anything that is mounted.
 */
function addSteps(wishes: Map<string, Wish>, watched: readonly string[]): void {
  const isHeld = ([path, wish]: [string, Wish]) =>
    wish === "protect" || (wish === "hide" && isWritable(path, wishes));
  const guarded = [...wishes].filter(isHeld).map(([path]) => path);
  for (const path of [...guarded, ...watched])
    for (let dir = dirname(path); !wishes.has(dir) && dir !== "/"; dir = dirname(dir))
      wishes.set(dir, "step");
}

function byDepth(wishes: ReadonlyMap<string, Wish>): [string, Wish][] {
  const depth = (path: string) => (path === "/" ? 0 : path.split("/").length);
  return [...wishes].sort(([a], [b]) => depth(a) - depth(b) || (a < b ? -1 : 1));
}

/**
 * The folder of the process as `/tmp`, but only if no other mount lies below: mount points would leave folders in it,
 * and nothing may be mounted where a program can put links. Otherwise `/tmp` is a new empty folder.
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
