/** Turns a mount plan and a network into the options of a wrapper (../wrapper.ts). Pure. */
import { isWithin } from "../../../lib/path.ts";
import type { Mount } from "./mounts.ts";

interface SandboxArguments {
  readonly mounts: readonly Mount[];
  /** Symbolic links, made in a folder that only this sandbox has. */
  readonly links?: readonly { readonly path: string; readonly to: string }[];
  /** True: it keeps the network it is made in, the host's or the loopback of its process. */
  readonly hasNetwork: boolean;
  /** The child's fd of the system call filter. Absent: the first process is a keeper (../kept/), which gives it to each command. */
  readonly filterFd?: number;
  /** Paths that are mounted at another path: our egress socket inside. */
  readonly lent: readonly { readonly from: string; readonly at: string }[];
}

/**
 * Namespaces and capabilities; the pid namespace belongs to every child. `disable-userns` needs the user namespace.
 */
const PROCESS =
  "--unshare-user --disable-userns --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL".split(
    " ",
  );
/** To make the namespaces of a command, and to take these rights from it. */
const KEEPER = "--cap-add CAP_SYS_ADMIN --cap-add CAP_SETPCAP".split(" ");
/** New /dev and /proc. /proc is read-only: user root could write there even without capabilities. */
const DEVICES = "--dev /dev --proc /proc --remount-ro /proc".split(" ");
/** Each command mounts its own /proc; the kernel permits that only where one can be seen of which nothing is covered. */
const KEEPER_DEVICES = "--dev /dev".split(" ");
/** Keeps /sys read-only if the whole host is writable. */
const NO_SYS = "--ro-bind-try /sys /sys".split(" ");

/** The commands of a keeper mount these for themselves: with a mount of the plan there, none is to be had. */
export function isOfCommand({ path }: Mount): boolean {
  return ["/proc", "/dev"].some((place) => isWithin(place, path));
}

export function sandboxArguments(plan: SandboxArguments): readonly string[] {
  const { mounts, links = [], hasNetwork, filterFd, lent } = plan;
  return [
    ...PROCESS,
    ...(hasNetwork ? [] : ["--unshare-net"]),
    ...(mounts.some(isWholeHost) ? ["--bind", "/", "/", ...NO_SYS] : ["--ro-bind", "/", "/"]),
    ...(filterFd === undefined ? KEEPER_DEVICES : DEVICES),
    ...mounts.filter((mount) => !isWholeHost(mount) && !isLeaf(mount)).flatMap(argumentsOf),
    ...mounts.filter(isLeaf).flatMap(argumentsOf),
    ...links.flatMap(({ path, to }) => ["--symlink", to, path]),
    ...lent.flatMap(({ from, at }) => ["--bind", from, at]),
    ...(filterFd === undefined ? KEEPER : ["--seccomp", String(filterFd)]),
  ];
}

/** True if `/` itself is writable: it is then the base, and other mounts cover parts of it. */
function isWholeHost({ op, path }: Mount): boolean {
  return op === "write" && path === "/";
}

/**
 * True if no other mount lies inside: it can come last, which keeps the mount table short for the binds before it.
 */
function isLeaf(mount: Mount): boolean {
  return mount.op === "blank" && mount.kind === "directory";
}

/**
 * Empty folders are separate file systems, which are faster to make than binds: after each bind bubblewrap reads the
 * whole mount table. They are not writable; a program that changes their mode can only write one page, which is lost.
 * A device that is bound without device access cannot be opened: reading a hidden file fails with an error.
 */
function argumentsOf(mount: Mount): readonly string[] {
  const { op, path } = mount;
  switch (op) {
    case "write":
      return ["--bind", path, path];
    case "read":
      return ["--ro-bind", path, path];
    case "place":
      return ["--bind", mount.from, path];
    case "empty":
      return ["--perms", mount.isOpen ? "1777" : "0555", "--tmpfs", path];
    case "blank":
      return mount.kind === "file"
        ? ["--ro-bind", "/dev/null", path]
        : ["--size", "4096", "--perms", "0555", "--tmpfs", path];
  }
}
