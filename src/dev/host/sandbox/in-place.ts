/**
 * Looks, when all mounts of a sandbox are made and its program has not begun, whether each is the one that was planned. A
 * program that runs beside may have put a link in the place of a folder while the wrapper followed its path: the mount is then
 * that of another place, or elsewhere. The kernel's list names both ends of each, see proc_pid_mountinfo(5).
 */
import { readFile } from "node:fs/promises";
import { isWithin } from "../../../lib/path.ts";
import { unescaped } from "./kernel-files.ts";
import type { Mount } from "./mounts.ts";

interface Entry {
  /** The file system, by its device. */
  readonly device: string;
  /** The folder or file of it that is mounted. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
}

/** `pid`: a process in the sandbox; `host`: the mountinfo of the host. True if the list of either cannot be read. */
export async function areInPlace(mounts: readonly Mount[], pid: number, host: string): Promise<boolean> {
  // to read it waits for whoever makes mounts at this moment
  const list = await readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "");
  const [outside, inside] = [entriesOf(host), entriesOf(list)];
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

function entriesOf(mountinfo: string): readonly Entry[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , device = "", root = "", point = ""] = before.split(" ");
    const [type = ""] = after.split(" ");
    return point === "" ? [] : [{ device, root: unescaped(root), point: unescaped(point), type }];
  });
}
