/** Turns a mount plan and a network into the options of a wrapper (../wrapper.ts). Pure. */
import type { Mount } from "./mounts.ts";

interface SandboxArguments {
  readonly mounts: readonly Mount[];
  /** Symbolic links, made in a folder that only this sandbox has. */
  readonly links?: readonly { readonly path: string; readonly to: string }[];
  /** True: it keeps the network it is made in, the host's or the loopback of its process. */
  readonly hasNetwork: boolean;
  /** The child's fd of the system call filter. */
  readonly filterFd: number;
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
/** New /dev and /proc. /proc is read-only: user root could write there even without capabilities. */
const DEVICES = "--dev /dev --proc /proc --remount-ro /proc".split(" ");
/** Keeps /sys read-only if the whole host is writable. */
const NO_SYS = "--ro-bind-try /sys /sys".split(" ");

export function sandboxArguments(plan: SandboxArguments): readonly string[] {
  const { mounts, links = [], hasNetwork, filterFd, lent } = plan;
  return [
    ...PROCESS,
    ...(hasNetwork ? [] : ["--unshare-net"]),
    ...(mounts.some(isWholeHost) ? ["--bind", "/", "/", ...NO_SYS] : ["--ro-bind", "/", "/"]),
    ...DEVICES,
    ...mounts.filter((mount) => !isWholeHost(mount) && !isLeaf(mount)).flatMap(argumentsOf),
    ...mounts.filter(isLeaf).flatMap(argumentsOf),
    ...links.flatMap(({ path, to }) => ["--symlink", to, path]),
    ...lent.flatMap(({ from, at }) => ["--bind", from, at]),
    ...["--seccomp", String(filterFd)],
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
