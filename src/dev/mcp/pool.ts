/** The existing servers, by their key. A server without holders is kept for a while, then stopped. */
import { driverError } from "../driver-error.ts";
import type { ConnectionDeps } from "./connection.ts";
import type { ServerLaunch } from "./launch.ts";
import { MCP_LIMITS } from "./limits.ts";
import { type Holder, SharedServer, type SharedServerDeps } from "./server.ts";
import { Slots } from "./slots.ts";

interface PoolDeps extends ConnectionDeps {
  readonly idleTtlMs: number;
}

interface Entry {
  readonly server: SharedServer;
  /** Cancels the idle timer of a server without holders; null while it has a holder. */
  idle: AbortController | null;
}

export class Pool {
  readonly #deps: PoolDeps & SharedServerDeps;
  /** In the order in which they were last acquired. */
  readonly #entries = new Map<string, Entry>();
  /** Servers being stopped, by key. */
  readonly #leaving = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(deps: PoolDeps) {
    this.#deps = { ...deps, slots: new Slots() };
  }

  get clock(): PoolDeps["clock"] {
    return this.#deps.clock;
  }

  /** BUDGET: too many servers, and all have holders. UNAVAILABLE: the daemon is shutting down. */
  acquire(launch: ServerLaunch, holder: Holder): SharedServer {
    if (this.#isClosed) throw driverError("Open", "UNAVAILABLE", "the daemon is shutting down");
    const { key } = launch;
    const entry = this.#entries.get(key) ?? this.#make(launch);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.idle?.abort();
    entry.idle = null;
    entry.server.hold(holder);
    return entry.server;
  }

  /** A connected server is kept for the next holder; any other is stopped. */
  release(server: SharedServer, holder: Holder): void {
    server.letGo(holder);
    const { key } = server.launch;
    const entry = this.#entries.get(key);
    if (entry?.server !== server || server.isHeld || entry.idle !== null) return;
    if (server.state !== "connected") {
      this.#retire(key, entry);
      return;
    }
    const idle = new AbortController();
    entry.idle = idle;
    this.#deps.clock.sleep(this.#deps.idleTtlMs, idle.signal).then(
      () => this.#retire(key, entry),
      () => {},
    );
  }

  /** Stops all servers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [key, entry] of [...this.#entries]) this.#retire(key, entry);
    await Promise.all(this.#leaving.values());
  }

  #make(launch: ServerLaunch): Entry {
    if (this.#entries.size >= MCP_LIMITS.servers) this.#makeRoom();
    const after = this.#leaving.get(launch.key) ?? Promise.resolve();
    return { server: new SharedServer(this.#deps, launch, after), idle: null };
  }

  /** Stops the server that has been without a holder for longest. */
  #makeRoom(): void {
    const unheld = [...this.#entries].find(([, { idle }]) => idle !== null);
    if (unheld === undefined)
      throw driverError("Open", "BUDGET", `too many MCP servers at once: ${MCP_LIMITS.servers}`);
    this.#retire(...unheld);
  }

  #retire(key: string, entry: Entry): void {
    entry.idle?.abort();
    this.#entries.delete(key);
    const before = this.#leaving.get(key);
    const leaving = Promise.all([before, entry.server.stop()]).then(() => {
      if (this.#leaving.get(key) === leaving) this.#leaving.delete(key);
    });
    this.#leaving.set(key, leaving);
  }
}
