/** A plan of mounts and a network as the arguments of bubblewrap. Pure. */
import type { Mount } from "./mounts.ts";

interface SandboxArguments {
  readonly mounts: readonly Mount[];
  /** In a folder of its own. */
  readonly links?: readonly { readonly path: string; readonly to: string }[];
  /** That in which it is made: the host's, or a loopback of its process. */
  readonly hasNetwork: boolean;
  /** The number at which the child has the filter of system calls. */
  readonly filterFd: number;
  /** Made to be seen at another place: a socket of ours inside. */
  readonly lent: readonly { readonly from: string; readonly at: string }[];
}

/** Namespaces and rights; the pid namespace is every child's. `disable-userns` needs the user namespace. */
const PROCESS =
  "--unshare-user --disable-userns --unshare-ipc --unshare-uts --unshare-cgroup-try --cap-drop ALL".split(
    " ",
  );
/** A folder of devices and a /proc of its own. That can only be read: user root may write there without any capability. */
const DEVICES = "--dev /dev --proc /proc --remount-ro /proc".split(" ");
/** It comes with a host that can be written. */
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

/** Who works in `/` may write there; what else is mounted stands over it. */
function isWholeHost({ op, path }: Mount): boolean {
  return op === "write" && path === "/";
}

/** Nothing lies in it: it may come last, and the table of mounts be short for the binds before. */
function isLeaf(mount: Mount): boolean {
  return mount.op === "blank" && mount.kind === "directory";
}

/**
 * Folders that are to be empty are file systems of their own, which are quicker to make than binds: after each of those
 * bubblewrap reads the whole table of mounts. Nobody may write there; who gives himself the right writes to nowhere, and one page.
 * A device that is bound without devices cannot be opened: who reads a hidden file is told so.
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
