/**
 * The files through which the host's kernel is configured: /proc except the folders of processes, /sys, and similar
 * file systems mounted elsewhere. Root can write there even without capabilities, so files that a program must not
 * change are closed.
 */
import { type Dirent, lstatSync, openSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { isWithin } from "../../../lib/path.ts";
import type { Libc } from "../libc.ts";

const MOUNTS = "/proc/self/mountinfo";

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
  const found = mountinfo.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [type = ""] = after.split(" ");
    const path = unescaped(before.split(" ")[4] ?? "");
    const isUsual = path === "" || KERNEL_PLACES.some((place) => isWithin(place, path));
    return KERNEL_TYPES.has(type) && !isUsual ? [path] : [];
  });
  return [...new Set(found)];
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

export function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
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
