/**
 * One distinct server, shared by all its holders: connected while it has a holder, restarted when it ends, given up
 * when it ends too often. Holders keep it throughout, and get log messages.
 */
import { messageOf } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { McpState } from "../../abi/mcp.ts";
import { abortable } from "../../lib/abort.ts";
import { driverError, type FileOp } from "../driver-error.ts";
import { type Connection, type ConnectionDeps, Connector } from "./connection.ts";
import { withPatience } from "./deadline.ts";
import { SessionGone } from "./fault.ts";
import type { ServerLaunch } from "./launch.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { Session } from "./session.ts";
import type { Slots } from "./slots.ts";

/** Bound on the log messages about left-out tools. */
const MAX_TOLD = 10;

export interface Holder {
  log(level: "info" | "warn" | "error", message: string): void;
}

/** A run, from its start until the server is stopped or given up. */
interface Run {
  readonly stop: AbortController;
  readonly over: Promise<void>;
}

export interface SharedServerDeps extends ConnectionDeps {
  /** The connection slots, shared by all servers. */
  readonly slots: Slots;
}

export class SharedServer {
  readonly launch: ServerLaunch;
  readonly #deps: SharedServerDeps;
  /** Resolves when the previous server with this key has ended: two of one kind could use the same file. */
  readonly #after: Promise<unknown>;
  readonly #holders = new Set<Holder>();
  readonly #connector: Connector;
  #state: McpState = "pending";
  #problem = "";
  #connection: Connection | null = null;
  #run: Run | null = null;
  /** Settles when the server is connected, or given up. */
  #outcome = new Outcome();
  #failedAt = 0;

  constructor(deps: SharedServerDeps, launch: ServerLaunch, after: Promise<unknown>) {
    this.#deps = deps;
    this.#connector = new Connector(deps, launch);
    this.launch = launch;
    this.#after = after;
  }

  get state(): McpState {
    return this.#state;
  }
  get problem(): string {
    return this.#problem;
  }
  get servicePid(): Pid | null {
    return this.#connection?.servicePid ?? null;
  }
  get toolCount(): number {
    return this.#connection?.session.toolCount ?? 0;
  }
  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  hold(holder: Holder): void {
    this.#holders.add(holder);
  }

  letGo(holder: Holder): void {
    this.#holders.delete(holder);
  }

  /** Resolves when the server is connected. UNAVAILABLE: it was given up, with the reason. */
  async connect(signal: AbortSignal): Promise<void> {
    if (this.#state === "connected") return;
    this.#start();
    await abortable(this.#outcome.promise, signal);
  }

  /** UNAVAILABLE: not connected; a server that was given up is then started again. */
  check(op: FileOp): Connection {
    if (this.#connection === null) throw this.#unavailable(op);
    return this.#connection;
  }

  /** Runs `act` in a session. UNAVAILABLE: as check(). A lost session is replaced and `act` is run once more. */
  async use<T>(op: FileOp, signal: AbortSignal, act: (session: Session) => Promise<T>): Promise<T> {
    const connection = this.check(op);
    try {
      return await act(connection.session);
    } catch (error) {
      if (!(error instanceof SessionGone)) throw error;
      await this.#reconnect(connection, signal);
      return await act(this.#connection?.session ?? connection.session);
    }
  }

  /** Stops the server for good. Never rejects. */
  async stop(): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    run.stop.abort();
    await this.#connection?.close();
    await run.over;
  }

  #unavailable(op: FileOp): Error {
    const { label } = this.launch;
    if (this.#state !== "failed")
      return driverError(op, "UNAVAILABLE", `${label} is not connected yet: ${this.#problem}`);
    const mayTry = this.#deps.clock.mono() - this.#failedAt >= MCP_LIMITS.maxBackoffMs;
    const words = `${label} is not connected: ${this.#problem}`;
    if (mayTry) this.#start();
    return driverError(op, "UNAVAILABLE", mayTry ? `${words}. It is tried again now` : words);
  }

  /** Replaces a lost session; the server itself is still there. */
  async #reconnect(old: Connection, signal: AbortSignal): Promise<void> {
    if (this.#connection === old) {
      this.#dropped("its session is gone");
      await old.close();
    }
    await abortable(this.#outcome.promise, signal);
  }

  #start(): void {
    if (this.#run !== null) return;
    const stop = new AbortController();
    this.#dropped("it is starting");
    const over = this.#live(stop.signal).finally(() => {
      this.#run = null;
    });
    this.#run = { stop, over };
  }

  /** Never rejects. */
  async #live(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const restarts: number[] = [];
    let wasConnected = false;
    let inRow = 0;
    while (!signal.aborted) {
      let why: string;
      try {
        const connection = await this.#open(signal);
        const since = clock.mono();
        why = await this.#stay(connection, wasConnected);
        wasConnected = true;
        if (clock.mono() - since >= MCP_LIMITS.restartWindowMs) inRow = 0;
      } catch (error) {
        if (signal.aborted) break;
        // a server that never worked is not retried; the holders get the reason
        if (!wasConnected) return this.#fail(error);
        why = messageOf(error);
      }
      if (signal.aborted) break;
      const delayMs = restartDelay({ restarts, inRow: ++inRow }, clock.mono());
      if (delayMs === null) return this.#giveUp(why);
      if (!this.isHeld) return this.#fail(new Error(why));
      this.#dropped(why);
      this.#tell("warn", `${why}; starting it again in ${delayMs / 1000} s`);
      await clock.sleep(delayMs, signal).catch(() => {});
      restarts.splice(0, restarts.length - MCP_LIMITS.restarts + 1);
      restarts.push(clock.mono());
    }
    this.#fail(new Error("it was stopped"));
  }

  /** Makes one attempt to connect, in a slot and within its timeout. */
  async #open(signal: AbortSignal): Promise<Connection> {
    const free = await this.#deps.slots.take(this.launch.kind, signal);
    try {
      await abortable(this.#after, signal);
      const { connectMs } = MCP_LIMITS;
      const late = () => driverError("Open", "UNAVAILABLE", `it did not answer within ${connectMs / 1000} s`);
      const patience = { clock: this.#deps.clock, quietMs: connectMs, totalMs: connectMs, late };
      return await withPatience(patience, signal, (linked) => this.#connector.open(linked));
    } finally {
      free();
    }
  }

  /** Serves until the connection ends; returns the reason. */
  async #stay(connection: Connection, isBack: boolean): Promise<string> {
    this.#connection = connection;
    this.#state = "connected";
    this.#problem = connection.dropped[0] === undefined ? "" : `${connection.dropped[0]}; left out`;
    this.#outcome.resolve();
    if (isBack) this.#tell("info", "connected again");
    for (const line of connection.dropped.slice(0, MAX_TOLD)) this.#tell("warn", `${line}; left out`);
    const why = await connection.ended;
    if (this.#connection === connection) this.#dropped(why);
    await connection.close();
    return why;
  }

  /** New waiters wait for the next connection. */
  #dropped(why: string): void {
    this.#connection = null;
    this.#state = "pending";
    this.#problem = why;
    if (this.#outcome.isSettled) this.#outcome = new Outcome();
  }

  #giveUp(why: string): void {
    this.#fail(new Error(`it ended too often; last: ${why}`));
    this.#tell("error", this.#problem);
  }

  #fail(error: unknown): void {
    this.#state = "failed";
    this.#problem = messageOf(error);
    this.#failedAt = this.#deps.clock.mono();
    this.#outcome.reject(driverError("Open", "UNAVAILABLE", this.#problem, error));
  }

  #tell(level: "info" | "warn" | "error", what: string): void {
    for (const holder of this.#holders) holder.log(level, `MCP server ${this.launch.label}: ${what}`);
  }
}

/** The outcome of connecting. A rejection without a waiter is not an unhandled error. */
class Outcome {
  readonly #settling = Promise.withResolvers<void>();
  isSettled = false;

  constructor() {
    this.#settling.promise.catch(() => {});
  }

  get promise(): Promise<void> {
    return this.#settling.promise;
  }

  resolve(): void {
    this.isSettled = true;
    this.#settling.resolve();
  }

  reject(error: Error): void {
    this.isSettled = true;
    this.#settling.reject(error);
  }
}

/** Decides when an ended server is restarted. Pure. */
interface Crashes {
  /** Earlier restarts, in monotonic ms, oldest first. */
  readonly restarts: readonly number[];
  /** Consecutive crashes since the server last stayed up for a whole window. */
  readonly inRow: number;
}

/** The delay until the next start, in ms; null: too many restarts. */
export function restartDelay({ restarts, inRow }: Crashes, nowMs: number): number | null {
  const recent = restarts.filter((at) => at > nowMs - MCP_LIMITS.restartWindowMs);
  if (recent.length >= MCP_LIMITS.restarts) return null;
  return Math.min(MCP_LIMITS.maxBackoffMs, MCP_LIMITS.backoffMs * 2 ** (inRow - 1));
}
