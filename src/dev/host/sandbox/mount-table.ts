/**
 * The lists of mounts that the kernel keeps, see proc_pid_mountinfo(5), and whether those of a sandbox are the planned ones: a program
 * that runs beside may have put a link in the place of a folder while the wrapper followed its path, so that a mount is that of
 * another place, or elsewhere.
 */
import { openSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isWithin } from "../../../lib/path.ts";
import type { Libc } from "../libc.ts";
import type { Mount } from "./mounts.ts";

const MOUNTS = "/proc/self/mountinfo";

interface Entry {
  /** The file system, by its device. */
  readonly device: string;
  /** The folder or file of it that is mounted. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
}

/**
 * The text of /proc/self/mountinfo. To read it waits for whoever makes mounts at this moment, in any namespace, and that takes
 * milliseconds while a sandbox is set up; so it is read again only when the kernel reports a change, see proc_pid_mounts(5).
 */
export class MountTable {
  readonly #findLibc: () => Pick<Libc, "hasChanged"> | undefined;
  #fd: number | undefined;
  /** undefined: not read since the last change. */
  #text: string | undefined;

  constructor(findLibc: () => Pick<Libc, "hasChanged"> | undefined) {
    this.#findLibc = findLibc;
  }

  /** Empty if it cannot be read. */
  read(): string {
    const libc = this.#findLibc();
    try {
      if (libc === undefined) return readFileSync(MOUNTS, "utf8");
      // opened before the text is read: every later change is reported
      this.#fd ??= openSync(MOUNTS, "r");
      if (libc.hasChanged(this.#fd)) this.#text = undefined;
      this.#text ??= readFileSync(MOUNTS, "utf8");
      return this.#text;
    } catch {
      return "";
    }
  }
}

/** `text`: of a mountinfo. */
export function mountsIn(text: string): readonly Entry[] {
  return text.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , device = "", root = "", point = ""] = before.split(" ");
    const [type = ""] = after.split(" ");
    return point === "" ? [] : [{ device, root: unescaped(root), point: unescaped(point), type }];
  });
}

function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** `pid`: a process in the sandbox; `host`: the mountinfo of the host. True if the list of either cannot be read. */
export async function areInPlace(mounts: readonly Mount[], pid: number, host: string): Promise<boolean> {
  // to read it waits for whoever makes mounts at this moment
  const list = await readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "");
  const [outside, inside] = [mountsIn(host), mountsIn(list)];
  if (outside.length === 0 || inside.length === 0) return true;
  const last = new Map(inside.map((entry) => [entry.point, entry]));
  return mounts.every((mount) => mount.path === "/" || isMeant(mount, last.get(mount.path), outside));
}

function isMeant(mount: Mount, found: Entry | undefined, outside: readonly Entry[]): boolean {
  if (found === undefined) return false;
  if (mount.op === "empty" || (mount.op === "blank" && mount.kind === "directory"))
    return found.type === "tmpfs";
  const from = mount.op === "blank" ? "/dev/null" : mount.op === "place" ? mount.from : mount.path;
  const place = placeOf(from, outside);
  // in a chroot the list may lack what the path lies on
  return place === undefined || (place.device === found.device && place.root === found.root);
}

/** The file system and the path in it that a path of the host leads to; of mounts at one point the last counts. */
function placeOf(path: string, outside: readonly Entry[]): Pick<Entry, "device" | "root"> | undefined {
  const [over] = outside
    .filter(({ point }) => isWithin(point, path))
    .reverse()
    .sort((a, b) => b.point.length - a.point.length);
  if (over === undefined) return undefined;
  const below = path.slice(over.point === "/" ? 0 : over.point.length);
  const root = over.root === "/" ? below : over.root + (below === "/" ? "" : below);
  return { device: over.device, root: root === "" ? "/" : root };
}
