/**
 * Who mounted which MCP server where. A mount is visible to its owner, the owner's descendants and pid 0; mounts of pid
 * 0 are visible to all. It is removed when its owner ends. Mounting: claim, transport, connect, device, record; a
 * failure undoes the steps before it.
 */

import { codeOf, messageOf, printed, SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import {
  isServerName,
  type McpConfig,
  type McpServer,
  type McpState,
  type MountView,
} from "../../abi/mcp.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { ABORTED, abortable, linkSignals } from "../../lib/abort.ts";
import { secretValues } from "../../lib/redact/secret-values.ts";
import { LIMITS } from "../limits.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { McpOwner } from "../ports/mcp.ts";
import { KeptMounts, lackingView } from "./kept-mounts.ts";
import { agentMountPath, canonicalMount, notAName, parseMountPath } from "./mount-path.ts";
import { failed, type Mount, type Mounter, MountTable, type TableGround } from "./mount-table.ts";
import { unmetServers } from "./required-servers.ts";

/** A process that mounts servers. */
interface Owner extends Mounter {
  readonly seed: Pick<McpOwner, "uuid" | "cwd" | "env">;
}

/** The parts of the kernel that mounting uses. */
interface Ground<Proc> extends TableGround {
  readonly ports: Pick<KernelPorts, "journal" | "mcp" | "clock" | "log" | "redactor">;
  readonly root: Proc & { readonly killed: AbortController };
}

/** The sandbox in which a server of this process runs; null: none. */
type SandboxOf<Proc> = (owner: Proc, config: McpConfig) => SandboxProfile | null;

interface MountRequest<Proc> {
  readonly owner: Proc;
  readonly path: string;
  readonly config: McpConfig;
  /** The gate decided that the server runs without a sandbox. */
  readonly isOutside?: boolean;
}

/** A process being spawned or restored; `undo` collects what removes its mounts again. */
interface Mounting<Proc> {
  readonly proc: Proc;
  readonly undo: (() => Promise<void> | void)[];
  readonly signal: AbortSignal;
}

/** A mount of a server from an agent file. */
interface NamedMount {
  readonly server: McpServer;
  readonly mount: Mount;
}

/** A mount as the process's program sees it. */
type NamedPath = ProgramStart["mounts"][number];

export class Mounts<Proc extends Owner = Owner> {
  readonly #table: MountTable;
  /** The mounts of servers from agent files, in the order of the file. */
  readonly #named = new Map<Pid, NamedPath[]>();
  readonly #kept: KeptMounts;
  readonly #ground: Ground<Proc>;
  readonly #sandboxOf: SandboxOf<Proc>;

  constructor(ground: Ground<Proc>, sandboxOf: SandboxOf<Proc>) {
    this.#ground = ground;
    this.#table = new MountTable(ground);
    this.#sandboxOf = sandboxOf;
    this.#kept = new KeptMounts(ground.ports.journal);
  }

  /** Restores the user's mounts before the processes are restored; each server is started at its first use. */
  async bringBack(): Promise<void> {
    const { ports, root } = this.#ground;
    for (const { path, server, config } of await this.#kept.recall()) {
      if (config === null) continue;
      try {
        this.#table.claim(root, path);
        const transport = ports.mcp.transport(config, this.#serverOwner(root, null));
        transport.connectOnUse();
        const closing = new AbortController();
        this.#table.enter({ path, owner: root, server, transport, closing, connecting: OVER });
      } catch (error) {
        ports.log("warn", `${path} is not mounted again: ${messageOf(error)}`);
      } finally {
        this.#table.release(root, path);
      }
    }
  }

  /** Returns within 500 ms, connected or not; a server that fails within that time is not mounted. */
  async mount(request: MountRequest<Proc>, signal: AbortSignal): Promise<{ path: string; state: McpState }> {
    const { owner, config } = request;
    const place = parseMountPath(request.path);
    if (typeof place === "string") throw failed(owner, request.path, { code: "INVALID", message: place });
    const mount = this.#begin({ ...request, ...place });
    try {
      await this.#within(mount.connecting, LIMITS.mountWaitMs, signal);
      this.#table.enter(mount);
      if (owner.pid === PID_KERNEL) await this.#kept.add(mount.path, mount.server, config);
    } catch (error) {
      await this.#remove(mount);
      throw signal.aborted ? error : cannotMount(mount, error);
    }
    if (mount.transport.state === "pending") this.#follow(mount);
    return { path: mount.path, state: mount.transport.state };
  }

  /** NOT_FOUND: not mounted, or not visible. PERMISSION: another process's mount. */
  async unmount(caller: Mounter, path: string): Promise<void> {
    const mount = this.#table.find(canonicalMount(path));
    if (caller.pid === PID_KERNEL && (mount === undefined || mount.owner === caller)) {
      const wasKept = await this.#kept.remove(canonicalMount(path));
      if (wasKept && mount === undefined) return;
    }
    if (mount === undefined || !this.isVisible(caller, mount.path))
      throw failed(caller, path, {
        code: "NOT_FOUND",
        message: `not mounted: ${path}`,
        fact: { kind: "not_mounted" },
        syscall: "Unmount",
      });
    if (caller.pid !== PID_KERNEL && caller !== mount.owner) {
      const whose = mount.owner.pid === PID_KERNEL ? "the user's" : `that of process ${mount.owner.pid}`;
      throw failed(caller, mount.path, {
        code: "PERMISSION",
        message: `the mount is ${whose}`,
        syscall: "Unmount",
      });
    }
    await this.#remove(mount);
  }

  /** All in parallel; what takes longer than 600 ms is left to the end of its service process. */
  async unmountAll(): Promise<void> {
    const all = Promise.all(this.#table.all().map((mount) => this.#drop(mount)));
    await this.#within(all, LIMITS.unmountAllMs, this.#ground.root.killed.signal);
  }

  /**
   * Mounts the servers of an agent file, each at /mnt/mcp/<pid>-<name>. They connect in parallel and are entered in
   * order. One that does not connect within 30 s is left out, or fails the spawn if it is required. Pushes an undo step
   * for each mount.
   */
  async mountAll(mounting: Mounting<Proc>, servers: readonly McpServer[]): Promise<void> {
    if (servers.length === 0) return;
    const { proc, signal } = mounting;
    const begun = servers.flatMap((server) => this.#beginNamed(mounting, server));
    const deadline = new AbortController();
    const stopDeadline = this.#startDeadline(deadline);
    using linked = linkSignals(signal, deadline.signal);
    try {
      for (const each of begun) {
        const failure = await this.#enterNamed(each, linked.signal);
        if (failure === undefined) continue;
        signal.throwIfAborted();
        this.#leftOut(proc, each.server, deadline.signal.aborted ? notInTime(each.mount) : failure);
        await this.#drop(each.mount);
      }
    } finally {
      stopDeadline();
    }
  }

  /** UNAVAILABLE: of these patterns of names some are met by no server that it sees, that connects within 30 s and has tools. */
  async requireServers({ proc, signal }: Mounting<Proc>, patterns: readonly string[]): Promise<void> {
    if (patterns.length === 0) return;
    const deadline = new AbortController();
    const stopDeadline = this.#startDeadline(deadline);
    using linked = linkSignals(signal, deadline.signal);
    try {
      const seen = this.#table.all().filter(({ path }) => this.isVisible(proc, path));
      const unmet = await unmetServers(seen, patterns, linked.signal);
      signal.throwIfAborted();
      if (unmet.length === 0) return;
      const message = `required MCP servers offer no tools: ${unmet.join(", ")}`;
      throw failed(proc, "/mnt/mcp", { code: "UNAVAILABLE", message });
    } finally {
      stopDeadline();
    }
  }

  #beginNamed({ proc, undo }: Mounting<Proc>, server: McpServer): NamedMount[] {
    const { name, config } = server;
    try {
      if (!isServerName(name)) throw failed(proc, name, { code: "INVALID", message: notAName(name) });
      const path = agentMountPath(proc.pid, name);
      const mount = this.#begin({ owner: proc, path, config, server: name });
      undo.push(() => this.#remove(mount));
      return [{ server, mount }];
    } catch (error) {
      this.#leftOut(proc, server, error);
      return [];
    }
  }

  /** The error that prevented it; undefined: it is mounted. */
  async #enterNamed({ server, mount }: NamedMount, signal: AbortSignal): Promise<unknown> {
    try {
      await abortable(mount.connecting, signal);
      this.#table.enter(mount);
    } catch (error) {
      return error;
    }
    const { pid } = mount.owner;
    const named = { name: server.name, path: mount.path };
    const always = server.alwaysLoad === true ? { alwaysLoad: true } : {};
    this.#named.set(pid, [...this.namedBy(pid), { ...named, ...always }]);
    this.#note(mount);
    return undefined;
  }

  /** Unmounts the mounts of an ending process, one by one; a failure is logged and does not stop the rest. */
  async unmountOf(proc: Mounter): Promise<void> {
    for (const path of [...(proc.mounts ?? [])]) {
      const mount = this.#table.find(path);
      if (mount !== undefined) await this.#drop(mount);
    }
  }

  /** The mounts of the process's agent file. */
  namedBy(pid: Pid): readonly NamedPath[] {
    return this.#named.get(pid) ?? [];
  }

  /** May `viewer` open what is mounted here? True for a path without a mount. */
  isVisible(viewer: Mounter, path: string): boolean {
    return this.#table.isVisible(viewer, path);
  }

  /** The mounts that `viewer` may open, by path. */
  seenBy(viewer: Mounter): ReturnType<MountTable["seenBy"]> {
    return this.#table.seenBy(viewer);
  }

  /** All mounts by path, with the user's mounts that could not be restored. */
  list(): readonly MountView[] {
    const lacking = this.#kept.lacking
      .filter(({ path }) => this.#table.find(path) === undefined)
      .map(lackingView);
    const there = this.#table.all().map(viewOf);
    return [...there, ...lacking].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Claims the path, makes a transport and starts connecting. A failure here leaves nothing behind. */
  #begin({
    owner,
    path,
    server,
    config,
    isOutside = false,
  }: MountRequest<Proc> & { readonly server: string }): Mount {
    const { redactor, mcp } = this.#ground.ports;
    this.#table.claim(owner, path);
    redactor?.learn(config.type === "stdio" ? secretValues(config.env) : Object.values(config.headers));
    try {
      const sandbox = isOutside ? null : this.#sandboxOf(owner, config);
      const transport = mcp.transport(config, this.#serverOwner(owner, sandbox));
      const closing = new AbortController();
      const connecting = transport.connect(closing.signal);
      connecting.catch(() => {});
      return { path, owner, server, transport, closing, connecting };
    } catch (error) {
      this.#table.release(owner, path);
      throw error;
    }
  }

  #serverOwner(owner: Owner, sandbox: SandboxProfile | null): McpOwner {
    const { uuid, cwd, env } = owner.seed;
    const log: McpOwner["log"] = (level, message) => owner.log(level, message, this.#mono());
    return { pid: owner.pid, uuid, cwd, env, sandbox, log };
  }

  #mono(): number {
    return this.#ground.ports.clock.mono();
  }

  /**
   * Removes the record, then the transport, then the device. A mount that was never entered is only closed. Idempotent.
   */
  async #remove(mount: Mount): Promise<void> {
    const { path, owner, transport, closing } = mount;
    const isEntered = this.#table.find(path) === mount;
    if (isEntered) this.#forget(mount);
    else this.#table.release(owner, path);
    closing.abort(ABORTED);
    try {
      await transport.close();
    } finally {
      if (isEntered) this.#ground.devices.unregister(path);
    }
  }

  #forget(mount: Mount): void {
    this.#table.forget(mount);
    const { path, owner } = mount;
    const named = this.namedBy(owner.pid).filter((each) => each.path !== path);
    if (named.length === 0) this.#named.delete(owner.pid);
    else this.#named.set(owner.pid, named);
  }

  async #drop(mount: Mount): Promise<void> {
    try {
      await this.#remove(mount);
    } catch (error) {
      this.#ground.ports.log("warn", `pid ${mount.owner.pid}: unmounting ${mount.path}: ${printed(error)}`);
    }
  }

  /** Settles as `work` does, or resolves when the time is up. */
  async #within(work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const late = this.#ground.ports.clock.sleep(ms, stop.signal).catch(() => {});
    try {
      await abortable(Promise.race([work, late]), signal);
    } finally {
      stop.abort(ABORTED);
    }
  }

  #startDeadline(deadline: AbortController): () => void {
    const stop = new AbortController();
    this.#ground.ports.clock.sleep(LIMITS.mountRequiredMs, stop.signal).then(
      () => deadline.abort(ABORTED),
      () => {},
    );
    return () => stop.abort(ABORTED);
  }

  /** Logs the outcome of connecting for the process that mounted it. */
  #follow(mount: Mount): void {
    mount.connecting.then(
      () => this.#note(mount),
      (error: unknown) => {
        if (mount.closing.signal.aborted) return;
        mount.owner.log("error", `MCP server at ${mount.path}: ${messageOf(error)}`, this.#mono());
      },
    );
  }

  #note({ owner, path, transport }: Mount): void {
    const tools = transport.tools === 1 ? "1 tool" : `${transport.tools} tools`;
    owner.log("info", `MCP server at ${path}: ${transport.label}, ${tools}`, this.#mono());
  }

  /** Throws if the server is required. */
  #leftOut(proc: Mounter, server: McpServer, error: unknown): void {
    const message = `MCP server ${server.name}: ${messageOf(error)}`;
    const code = codeOf(error) === "INVALID" ? "INVALID" : "UNAVAILABLE";
    if (server.required) throw failed(proc, agentMountPath(proc.pid, server.name), { code, message });
    proc.log("warn", `${message}; it is left out`, this.#mono());
  }
}

const OVER = Promise.resolve();

function notInTime({ transport }: Mount): Error {
  const why = transport.problem === "" ? "" : `: ${transport.problem}`;
  return new Error(`not connected within ${LIMITS.mountRequiredMs / 1000} s${why}`);
}

function viewOf({ path, owner, transport }: Mount): MountView {
  const { label, state, tools, servicePid, problem } = transport;
  return { path, pid: owner.pid, server: label, state, tools, servicePid, problem };
}

function cannotMount({ owner, path }: Mount, error: unknown): SyscallError {
  if (error instanceof SyscallError) return error;
  const code = codeOf(error);
  return failed(owner, path, { code: code === "DRIVER" ? "UNAVAILABLE" : code, message: messageOf(error) });
}
