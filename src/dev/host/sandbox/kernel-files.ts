/**
 * The files through which the host's kernel is configured: /proc except the folders of processes, /sys, and similar
 * file systems mounted elsewhere. Root can write there even without capabilities, so files that a program must not
 * change are closed.
 */
import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { isWithin } from "../../../lib/path.ts";
import { mountsIn } from "./mount-table.ts";

/** Closed regardless of their modes. */
const ALWAYS = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "mtrr"];
const ANY_WRITE = 0o222;
/** Bound on the entries examined in one folder of /proc; a folder with more counts as writable. */
const maxLooked = 500;

/** File systems that expose the kernel or its devices; `/dev/shm` and the like hold ordinary files. */
const KERNEL_TYPES = new Set(
  (
    "proc sysfs cgroup cgroup2 debugfs tracefs securityfs configfs efivarfs bpf pstore selinuxfs smackfs fusectl nsfs " +
    "binfmt_misc devtmpfs devpts mqueue rpc_pipefs nfsd resctrl"
  ).split(" "),
);

/** The sandbox has its own, or they are read-only in it. */
export const KERNEL_PLACES: readonly string[] = ["/proc", "/sys", "/dev"];

/** The kernel files to close to a program that otherwise sees the host unchanged. */
export function kernelFiles(proc = "/proc"): readonly string[] {
  const isOwn = ({ name }: Dirent) => /^(?:\d+|self|thread-self|net|mounts)$/.test(name);
  const always = ALWAYS.map((name) => join(proc, name)).filter((path) => findFile(path) !== undefined);
  const others = entriesOf(proc).flatMap((entry) => (isOwn(entry) ? [] : [join(proc, entry.name)]));
  const files = [...new Set([...always, ...others.filter((path) => isWritable(path))])].sort();
  return isFolder("/sys") ? [...files, "/sys"] : files;
}

function isWritable(path: string): boolean {
  const left = [path];
  for (let looked = 0; left.length > 0; looked++) {
    if (looked > maxLooked) return true;
    const each = left.pop() ?? "";
    const stat = findFile(each);
    if (stat?.isFile() === true && (stat.mode & ANY_WRITE) !== 0) return true;
    if (stat?.isDirectory() === true) left.push(...entriesOf(each).map(({ name }) => join(each, name)));
  }
  return false;
}

/**
 * Kernel file systems mounted outside the usual places, as in a chroot. `mountinfo`: the text of
 * `/proc/self/mountinfo`, see proc_pid_mountinfo(5).
 */
export function strayKernelMounts(mountinfo: string): readonly string[] {
  const found = mountsIn(mountinfo).flatMap(({ type, point }) => {
    const isUsual = KERNEL_PLACES.some((place) => isWithin(place, point));
    return KERNEL_TYPES.has(type) && !isUsual ? [point] : [];
  });
  return [...new Set(found)];
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return findFile(path)?.isDirectory() === true;
}

/** undefined: missing, or not accessible. */
function findFile(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
