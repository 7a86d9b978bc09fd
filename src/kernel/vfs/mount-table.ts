/** Which mount lies at which path, which paths are claimed for mounts in progress, and who sees a mount. */
import type { ErrorCode } from "../../abi/errno.ts";
import { SyscallError } from "../../abi/errors.ts";
import type { LogEntry } from "../../abi/events.ts";
import type { Fact } from "../../abi/fact.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { McpState } from "../../abi/mcp.ts";
import { LIMITS } from "../limits.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { McpTransport } from "../ports/mcp.ts";
import type { DeviceRegistry } from "./registry.ts";

/** The parts of the kernel that the table uses. */
export interface TableGround {
  readonly ports: Pick<KernelPorts, "mcp">;
  readonly table: { isAncestor(ancestor: Pid, pid: Pid): boolean };
  readonly devices: DeviceRegistry;
  readonly accepting: boolean;
}

/** A process that mounts, or that looks at mounts. */
export interface Mounter {
  readonly pid: Pid;
  readonly life: { readonly isClosed: boolean };
  /** Paths of its mounts; null: it never had any. */
  readonly mounts: ReadonlySet<string> | null;
  mounted(path: string): void;
  unmounted(path: string): void;
  log(level: LogEntry["level"], message: string, mono: number): void;
}

export interface Mount {
  readonly path: string;
  readonly owner: Mounter;
  /** The name of the server in effects and rules. */
  readonly server: string;
  readonly transport: McpTransport;
  /** Aborts connecting, which may still run after the mount call has returned. */
  readonly closing: AbortController;
  /** A rejection is always handled. */
  readonly connecting: Promise<void>;
}

export class MountTable {
  readonly #byPath = new Map<string, Mount>();
  /** Paths claimed for mounts in progress. */
  readonly #claimed = new Map<string, Mounter>();
  readonly #ground: TableGround;

  constructor(ground: TableGround) {
    this.#ground = ground;
  }

  all(): readonly Mount[] {
    return [...this.#byPath.values()];
  }

  find(path: string): Mount | undefined {
    return this.#byPath.get(path);
  }

  /** CONFLICT: the path is taken. UNAVAILABLE: the kernel is shutting down, or the owner has too many mounts. */
  claim(owner: Mounter, path: string): void {
    const { accepting, devices } = this.#ground;
    if (!accepting)
      throw failed(owner, path, { code: "UNAVAILABLE", message: "the kernel is shutting down" });
    if (this.#claimed.has(path) || devices.has(path))
      throw failed(owner, path, {
        code: "CONFLICT",
        message: `path is taken: ${path}`,
        fact: { kind: "path_taken" },
      });
    const claims = [...this.#claimed.values()].filter((proc) => proc === owner).length;
    if ((owner.mounts?.size ?? 0) + claims >= LIMITS.mounts)
      throw failed(owner, path, { code: "UNAVAILABLE", message: `too many mounts: ${LIMITS.mounts}` });
    this.#claimed.set(path, owner);
  }

  /** Releases the claim of a mount that was not entered. */
  release(owner: Mounter, path: string): void {
    if (this.#claimed.get(path) === owner) this.#claimed.delete(path);
  }

  /** CANCELLED: the owner has ended meanwhile, so nobody would unmount it. */
  enter(mount: Mount): void {
    const { accepting, devices, ports } = this.#ground;
    const { path, owner, server, transport } = mount;
    if (owner.life.isClosed) throw failed(owner, path, { code: "CANCELLED", message: "its owner has ended" });
    if (!accepting)
      throw failed(owner, path, { code: "UNAVAILABLE", message: "the kernel is shutting down" });
    devices.register(path, ports.mcp.device(server, transport));
    this.#claimed.delete(path);
    this.#byPath.set(path, mount);
    owner.mounted(path);
  }

  forget({ path, owner }: Mount): void {
    this.#byPath.delete(path);
    owner.unmounted(path);
  }

  /** May `viewer` open what is mounted here? True for a path without a mount. */
  isVisible(viewer: Mounter, path: string): boolean {
    const mount = this.#byPath.get(path);
    if (mount === undefined) return true;
    const owner = mount.owner.pid;
    if (owner === PID_KERNEL || viewer.pid === PID_KERNEL || viewer === mount.owner) return true;
    return this.#ground.table.isAncestor(owner, viewer.pid);
  }

  /** The mounts that `viewer` may open, by path. */
  seenBy(viewer: Mounter): readonly { name: string; path: string; state: McpState }[] {
    const seen = [...this.#byPath.values()].filter(({ path }) => this.isVisible(viewer, path));
    const rows = seen.map(({ server, path, transport }) => ({ name: server, path, state: transport.state }));
    return rows.sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

interface Failed {
  readonly code: ErrorCode;
  readonly message: string;
  readonly syscall?: "Mount" | "Unmount";
  readonly fact?: Fact;
}

export function failed(
  { pid }: Pick<Mounter, "pid">,
  path: string,
  { syscall = "Mount", ...why }: Failed,
): SyscallError {
  return new SyscallError({ syscall, pid, device: path.slice(0, 256), ...why });
}
