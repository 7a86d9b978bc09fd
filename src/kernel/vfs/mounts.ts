/**
 * Who mounted which MCP server where. A mount is seen by its owner, the owner's descendants and pid 0; pid 0's by all. Its
 * owner's end takes it away. Making one: transport, connect, device, register, record; what fails undoes what came before.
 */
import type { ErrorCode } from "../../abi/errno.ts";
import { codeOf, messageOf, printed, SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import {
  isServerName,
  type McpConfig,
  type McpServer,
  type McpState,
  type MountView,
} from "../../abi/mcp.ts";
import type { ProgramContext } from "../../abi/program.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { abortable, linkSignals } from "../../lib/abort.ts";
import { secretValues } from "../../lib/secret-values.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { Journal } from "../ports/journal.ts";
import type { McpTransport } from "../ports/mcp.ts";
import type { Undo } from "../process/body.ts";
import type { Process } from "../process/process.ts";
import { type KeptMount, KeptMounts } from "./kept-mounts.ts";
import { agentMountPath, canonicalMount, notAName, parseMountPath } from "./mount-path.ts";
import { serverSandbox } from "./server-sandbox.ts";

interface Mount {
  readonly path: string;
  readonly owner: Process;
  /** What effects and rules call it. */
  readonly server: string;
  readonly transport: McpTransport;
  /** Ends connecting, which may go on after the mount call is back. */
  readonly closing: AbortController;
  /** Never rejects unheard. */
  readonly connecting: Promise<void>;
}

/** Of an agent file. */
interface NamedMount {
  readonly server: McpServer;
  readonly mount: Mount;
}

/** As its program knows it. */
type NamedPath = ProgramContext["mounts"][number];

export class Mounts {
  readonly #byPath = new Map<string, Mount>();
  /** Paths of mounts that are being made. */
  readonly #claimed = new Map<string, Process>();
  /** The servers of agent files, in their order. */
  readonly #named = new Map<Pid, NamedPath[]>();
  readonly #kept: KeptMounts;

  constructor(journal: Journal) {
    this.#kept = new KeptMounts(journal);
  }

  /** What the person had mounted: each is started when it is first used. Before the processes come back. */
  async bringBack(core: Core): Promise<void> {
    for (const { path, server, config } of await this.#kept.recall()) {
      if (config === null) continue;
      try {
        this.#claim(core, core.root, path);
        const transport = core.ports.mcp.transport(config, ownerOf(core, core.root));
        transport.connectOnUse();
        const closing = new AbortController();
        this.#enter(core, { path, owner: core.root, server, transport, closing, connecting: OVER });
      } catch (error) {
        core.ports.log("warn", `${path} is not mounted again: ${messageOf(error)}`);
      } finally {
        this.#claimed.delete(path);
      }
    }
  }

  /** Back within 500 ms, connected or not; a server that fails within them is not mounted. */
  async mount(
    core: Core,
    owner: Process,
    path: string,
    config: McpConfig,
    signal: AbortSignal,
    /** The gate has decided that it runs as the host is. */
    isOutside = false,
  ): Promise<{ path: string; state: McpState }> {
    const place = parseMountPath(path);
    if (typeof place === "string") throw failed(owner, path, "INVALID", place);
    const mount = this.#begin(core, owner, place.path, place.server, config, isOutside);
    try {
      await within(core, mount.connecting, LIMITS.mountWaitMs, signal);
      this.#enter(core, mount);
      if (owner.pid === PID_KERNEL) await this.#kept.add(mount.path, mount.server, config);
    } catch (error) {
      await this.#remove(core, mount);
      throw signal.aborted ? error : cannotMount(mount, error);
    }
    if (mount.transport.state === "pending") follow(core, mount);
    return { path: mount.path, state: mount.transport.state };
  }

  /** NOT_FOUND; PERMISSION: another's. */
  async unmount(core: Core, caller: Process, path: string): Promise<void> {
    const mount = this.#byPath.get(canonicalMount(path));
    if (caller.pid === PID_KERNEL && (mount === undefined || mount.owner === caller)) {
      const wasKept = await this.#kept.remove(canonicalMount(path));
      if (wasKept && mount === undefined) return;
    }
    if (mount === undefined || !this.isVisible(core, caller, mount.path))
      throw failed(caller, path, "NOT_FOUND", `not mounted: ${path}`, "Unmount");
    if (caller.pid !== PID_KERNEL && caller !== mount.owner) {
      const whose = mount.owner.pid === PID_KERNEL ? "the user's" : `that of process ${mount.owner.pid}`;
      throw failed(caller, mount.path, "PERMISSION", `the mount is ${whose}`, "Unmount");
    }
    await this.#remove(core, mount);
  }

  /** In parallel; what takes longer than 600 ms is left to the end of its service. */
  async unmountAll(core: Core): Promise<void> {
    const all = Promise.all([...this.#byPath.values()].map((mount) => this.#drop(core, mount)));
    await within(core, all, LIMITS.unmountAllMs, core.root.killed.signal);
  }

  /**
   * The servers of an agent file, each at /mnt/mcp/<pid>-<name>. They connect side by side and are entered in order. One that
   * does not connect within 30 s is left out, or ends the spawn if it is required. Pushes what takes each back.
   */
  async mountAll(
    core: Core,
    proc: Process,
    servers: readonly McpServer[],
    undo: Undo[],
    signal: AbortSignal,
  ): Promise<void> {
    if (servers.length === 0) return;
    const begun = servers.flatMap((server) => this.#beginNamed(core, proc, server, undo));
    const deadline = new AbortController();
    const stopDeadline = startDeadline(core, deadline);
    using linked = linkSignals(signal, deadline.signal);
    try {
      for (const each of begun) {
        const failure = await this.#enterNamed(core, proc, each, linked.signal);
        if (failure === undefined) continue;
        signal.throwIfAborted();
        leftOut(core, proc, each.server, deadline.signal.aborted ? notInTime(each.mount) : failure);
        await this.#drop(core, each.mount);
      }
    } finally {
      stopDeadline();
    }
  }

  #beginNamed(core: Core, proc: Process, server: McpServer, undo: Undo[]): NamedMount[] {
    try {
      if (!isServerName(server.name)) throw failed(proc, server.name, "INVALID", notAName(server.name));
      const path = agentMountPath(proc.pid, server.name);
      const mount = this.#begin(core, proc, path, server.name, server.config);
      undo.push(() => this.#remove(core, mount));
      return [{ server, mount }];
    } catch (error) {
      leftOut(core, proc, server, error);
      return [];
    }
  }

  /** Why it could not be; undefined: it is there. */
  async #enterNamed(
    core: Core,
    proc: Process,
    { server, mount }: NamedMount,
    signal: AbortSignal,
  ): Promise<unknown> {
    try {
      await abortable(mount.connecting, signal);
      this.#enter(core, mount);
    } catch (error) {
      return error;
    }
    const named = { name: server.name, path: mount.path };
    const always = server.alwaysLoad === true ? { alwaysLoad: true } : {};
    this.#named.set(proc.pid, [...this.namedBy(proc.pid), { ...named, ...always }]);
    note(core, mount);
    return undefined;
  }

  /** Those of a process that ends, one by one; a failure is logged and holds nothing up. */
  async unmountOf(core: Core, proc: Process): Promise<void> {
    for (const path of [...(proc.mounts ?? [])]) {
      const mount = this.#byPath.get(path);
      if (mount !== undefined) await this.#drop(core, mount);
    }
  }

  /** By the names of its agent file. */
  namedBy(pid: Pid): readonly NamedPath[] {
    return this.#named.get(pid) ?? [];
  }

  /** May `viewer` open what is mounted here? True for what is no mount. */
  isVisible(core: Core, viewer: Process, path: string): boolean {
    const mount = this.#byPath.get(path);
    if (mount === undefined) return true;
    const owner = mount.owner.pid;
    if (owner === PID_KERNEL || viewer.pid === PID_KERNEL || viewer === mount.owner) return true;
    return core.table.isAncestor(owner, viewer.pid);
  }

  /** What `viewer` may open, by path. */
  seenBy(core: Core, viewer: Process): readonly { name: string; path: string; state: McpState }[] {
    const seen = [...this.#byPath.values()].filter(({ path }) => this.isVisible(core, viewer, path));
    const rows = seen.map(({ server, path, transport }) => ({ name: server, path, state: transport.state }));
    return rows.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** By path. */
  list(): readonly MountView[] {
    const lacking = this.#kept.lacking.filter(({ path }) => !this.#byPath.has(path)).map(lackingView);
    const there = [...this.#byPath.values()].map(viewOf);
    return [...there, ...lacking].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** A claim on the path, a transport, and connecting under way. What fails here has left nothing. */
  #begin(
    core: Core,
    owner: Process,
    path: string,
    server: string,
    config: McpConfig,
    isOutside = false,
  ): Mount {
    this.#claim(core, owner, path);
    const told = config.type === "stdio" ? secretValues(config.env) : Object.values(config.headers);
    core.ports.redactor?.learn(told);
    try {
      const transport = core.ports.mcp.transport(
        config,
        ownerOf(core, owner, isOutside ? null : serverSandbox(core, owner, config)),
      );
      const closing = new AbortController();
      const connecting = transport.connect(closing.signal);
      connecting.catch(() => {});
      return { path, owner, server, transport, closing, connecting };
    } catch (error) {
      this.#claimed.delete(path);
      throw error;
    }
  }

  #claim(core: Core, owner: Process, path: string): void {
    if (!core.accepting) throw failed(owner, path, "UNAVAILABLE", "the kernel is shutting down");
    if (this.#claimed.has(path) || core.devices.has(path))
      throw failed(owner, path, "CONFLICT", `path is taken: ${path}`);
    const claims = [...this.#claimed.values()].filter((proc) => proc === owner).length;
    if ((owner.mounts?.size ?? 0) + claims >= LIMITS.mounts)
      throw failed(owner, path, "UNAVAILABLE", `too many mounts: ${LIMITS.mounts}`);
    this.#claimed.set(path, owner);
  }

  /** CANCELLED: its owner has ended meanwhile, and nobody would take it away. */
  #enter(core: Core, mount: Mount): void {
    const { path, owner, server, transport } = mount;
    if (owner.revoked || !owner.isLive) throw failed(owner, path, "CANCELLED", "its owner has ended");
    if (!core.accepting) throw failed(owner, path, "UNAVAILABLE", "the kernel is shutting down");
    core.devices.register(path, core.ports.mcp.device(server, transport));
    this.#claimed.delete(path);
    this.#byPath.set(path, mount);
    owner.mounts ??= new Set();
    owner.mounts.add(path);
  }

  /** Record, then transport, then device. One that was never entered is closed. Idempotent. */
  async #remove(core: Core, mount: Mount): Promise<void> {
    const { path, owner, transport, closing } = mount;
    const isEntered = this.#byPath.get(path) === mount;
    if (isEntered) this.#forget(mount);
    else if (this.#claimed.get(path) === owner) this.#claimed.delete(path);
    closing.abort();
    try {
      await transport.close();
    } finally {
      if (isEntered) core.devices.unregister(path);
    }
  }

  #forget({ path, owner }: Mount): void {
    this.#byPath.delete(path);
    owner.mounts?.delete(path);
    const named = this.namedBy(owner.pid).filter((each) => each.path !== path);
    if (named.length === 0) this.#named.delete(owner.pid);
    else this.#named.set(owner.pid, named);
  }

  async #drop(core: Core, mount: Mount): Promise<void> {
    try {
      await this.#remove(core, mount);
    } catch (error) {
      core.ports.log("warn", `pid ${mount.owner.pid}: unmounting ${mount.path}: ${printed(error)}`);
    }
  }
}

const OVER = Promise.resolve();

/** Settles as `work` does, or resolves when the time is up. */
async function within(core: Core, work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const late = core.ports.clock.sleep(ms, stop.signal).catch(() => {});
  try {
    await abortable(Promise.race([work, late]), signal);
  } finally {
    stop.abort();
  }
}

function startDeadline(core: Core, deadline: AbortController): () => void {
  const stop = new AbortController();
  core.ports.clock.sleep(LIMITS.mountRequiredMs, stop.signal).then(
    () => deadline.abort(),
    () => {},
  );
  return () => stop.abort();
}

/** Whoever mounted it hears how connecting went on. */
function follow(core: Core, mount: Mount): void {
  mount.connecting.then(
    () => note(core, mount),
    (error: unknown) => {
      if (mount.closing.signal.aborted) return;
      mount.owner.log("error", `MCP server at ${mount.path}: ${messageOf(error)}`, core.ports.clock.mono());
    },
  );
}

function note(core: Core, { owner, path, transport }: Mount): void {
  const tools = transport.tools === 1 ? "1 tool" : `${transport.tools} tools`;
  owner.log("info", `MCP server at ${path}: ${transport.label}, ${tools}`, core.ports.clock.mono());
}

/** Throws for a required server. */
function leftOut(core: Core, proc: Process, server: McpServer, error: unknown): void {
  const message = `MCP server ${server.name}: ${messageOf(error)}`;
  const code = codeOf(error) === "INVALID" ? "INVALID" : "UNAVAILABLE";
  if (server.required) throw failed(proc, agentMountPath(proc.pid, server.name), code, message);
  proc.log("warn", `${message}; it is left out`, core.ports.clock.mono());
}

function notInTime({ transport }: Mount): Error {
  const why = transport.problem === "" ? "" : `: ${transport.problem}`;
  return new Error(`not connected within ${LIMITS.mountRequiredMs / 1000} s${why}`);
}

function ownerOf(core: Core, owner: Process, sandbox: SandboxProfile | null = null) {
  const { pid, seed } = owner;
  return {
    pid,
    uuid: seed.uuid,
    cwd: seed.cwd,
    env: seed.env,
    sandbox,
    log: (level: "info" | "warn" | "error", message: string) =>
      owner.log(level, message, core.ports.clock.mono()),
  };
}

function viewOf({ path, owner, transport }: Mount): MountView {
  const { label, state, tools, servicePid, problem } = transport;
  return { path, pid: owner.pid, server: label, state, tools, servicePid, problem };
}

/** What the daemon before had, and this one cannot start. */
function lackingView({ path, label, lacks }: KeptMount): MountView {
  const problem = `not there since the daemon was started again, which does not keep ${lacks}: mount it again`;
  return { path, pid: PID_KERNEL, server: label, state: "pending", tools: 0, servicePid: null, problem };
}

function cannotMount({ owner, path }: Mount, error: unknown): SyscallError {
  if (error instanceof SyscallError) return error;
  const code = codeOf(error);
  return failed(owner, path, code === "DRIVER" ? "UNAVAILABLE" : code, messageOf(error));
}

function failed(
  { pid }: Process,
  path: string,
  code: ErrorCode,
  message: string,
  syscall = "Mount",
): SyscallError {
  return new SyscallError({ syscall, pid, device: path.slice(0, 256), code, message });
}
