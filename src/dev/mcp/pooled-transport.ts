/** A mount's reference to a shared server. */
import type { Pid } from "../../abi/ids.ts";
import type { McpState } from "../../abi/mcp.ts";
import type { McpOwner, McpTransport } from "../../kernel/ports/mcp.ts";
import { linkSignals } from "../../lib/abort.ts";
import { driverError, type FileOp, unreadError } from "../driver-error.ts";
import type { Catalogue, McpTool } from "./catalogue.ts";
import { withPatience } from "./deadline.ts";
import type { ServerLaunch } from "./launch.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { Pool } from "./pool.ts";
import type { Holder, SharedServer } from "./server.ts";
import type { Session } from "./session.ts";

export class PooledTransport implements McpTransport {
  readonly #pool: Pool;
  readonly #launch: ServerLaunch;
  readonly #holder: Holder;
  readonly #closing = new AbortController();
  #server: SharedServer | null = null;
  #connectsOnUse = false;

  constructor(pool: Pool, launch: ServerLaunch, owner: McpOwner) {
    this.#pool = pool;
    this.#launch = launch;
    this.#holder = { log: (level, message) => owner.log(level, message) };
  }

  get label(): string {
    return this.#launch.label;
  }
  /** The host that effects name as the target of a call. */
  get host(): string {
    return this.#launch.host;
  }
  get state(): McpState {
    return this.#isClosed ? "failed" : (this.#server?.state ?? "pending");
  }
  get problem(): string {
    return this.#isClosed ? "it is not mounted any more" : (this.#server?.problem ?? "");
  }
  get servicePid(): Pid | null {
    return this.#server?.servicePid ?? null;
  }
  get tools(): number {
    return this.#server?.toolCount ?? 0;
  }
  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Lets a call that must fail do so before the user is asked. UNAVAILABLE: no longer mounted, or not connected. */
  check(op: FileOp): void {
    if (this.#isClosed) throw this.#unmounted(op);
    this.#held(op).check(op);
  }

  /** UNAVAILABLE: no longer mounted; content read earlier is no longer available either. */
  checkMounted(op: FileOp): void {
    if (this.#isClosed) throw this.#unmounted(op);
  }

  async connect(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw this.#unmounted("Open");
    this.#server ??= this.#pool.acquire(this.#launch, this.#holder);
    const server = this.#server;
    using linked = linkSignals(signal, this.#closing.signal);
    const late = () => {
      const why = server.problem === "" ? "" : `: ${server.problem}`;
      const message = `not connected within ${MCP_LIMITS.connectMs / 1000} s${why}`;
      return driverError("Open", "UNAVAILABLE", message);
    };
    const { connectMs } = MCP_LIMITS;
    const patience = { clock: this.#pool.clock, quietMs: connectMs, totalMs: connectMs, late };
    await withPatience(patience, linked.signal, (own) => server.connect(own));
    this.#connectsOnUse = false;
  }

  connectOnUse(): void {
    this.#connectsOnUse = true;
  }

  async call(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    return this.#use("Write", signal, (session, own) => session.request(method, params, own));
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.#use("Read", signal, (session, own) => session.request("ping", undefined, own));
  }

  catalogue(op: FileOp, signal: AbortSignal): Promise<Catalogue> {
    return this.#use(op, signal, (session, own) => session.tools(own));
  }

  resources(op: FileOp, signal: AbortSignal): Promise<readonly unknown[]> {
    return this.#use(op, signal, (session, own) => session.resources(own));
  }

  readResource(uri: string, signal: AbortSignal): Promise<unknown> {
    return this.#use("Read", signal, (session, own) => session.request("resources/read", { uri }, own));
  }

  callTool(tool: McpTool, args: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    return this.#use("Write", signal, (session, own) => session.callTool(tool, args, own));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#closing.abort();
    if (this.#server !== null) this.#pool.release(this.#server, this.#holder);
  }

  /** A request in progress when the mount is closed fails with UNAVAILABLE. */
  async #use<T>(
    op: FileOp,
    signal: AbortSignal,
    act: (session: Session, own: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.checkMounted(op);
    if (this.#connectsOnUse) await this.connect(signal);
    const server = this.#held(op);
    using linked = linkSignals(signal, this.#closing.signal);
    try {
      return await server.use(op, linked.signal, (session) => act(session, linked.signal));
    } catch (error) {
      throw this.#isClosed && !signal.aborted ? this.#unmounted(op, error) : error;
    }
  }

  #held(op: FileOp): SharedServer {
    if (this.#server === null) throw unreadError(op, "UNAVAILABLE", `${this.label} is not connected yet`);
    return this.#server;
  }

  #unmounted(op: FileOp, cause?: unknown): Error {
    const unknown = op === "Write" && cause !== undefined ? "; the outcome of the call is unknown" : "";
    return unreadError(op, "UNAVAILABLE", `${this.label} is not mounted any more${unknown}`, cause);
  }
}
