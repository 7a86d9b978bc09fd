/**
 * The daemon's socket. Only who has claimed its folder may start it: whatever lies at the path is a leftover then, and is
 * removed. Who may connect is settled by the folder (0700, own) and the socket's mode (0600).
 */
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import * as net from "node:net";
import { Fault } from "../../abi/errors.ts";
import { parent } from "../../lib/paths.ts";
import { checkPrivateDir, checkSocketPath } from "../codec/address.ts";
import { type Admission, Admissions, claimantOf } from "./admission.ts";
import { ClientNames } from "./client-names.ts";
import { Connection } from "./connection.ts";
import type { ServerOptions } from "./deps.ts";
import { LoopLag } from "./loop-lag.ts";
import { ownerOf, type Peer, principalOf } from "./principal.ts";
import { Repeats } from "./repeats.ts";

const SWEEP_MS = 1_000;
/** Connections that are only being told no; beyond, they are cut off without a word. */
const MAX_REFUSING = 64;
const DRAIN_MS = 1_000;

export interface Server {
  /** Open now. */
  readonly connections: number;
  /** Since the start: tells an idle check that someone was here in between. */
  readonly accepted: number;
  /** From now on each new connection is answered UNAVAILABLE with this cause; those open continue. */
  refuse(cause: string): void;
  /** Ends all connections; what is under way has a second to get its answer or its stream's end. */
  drain(): Promise<void>;
  /** Drains, stops listening and removes the socket file. */
  close(): Promise<void>;
}

/** PERMISSION: the socket's folder is not private. INVALID: its path is too long. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { socketPath } = options;
  const uid = options.uid ?? process.getuid?.() ?? 0;
  const dir = parent(socketPath);
  checkSocketPath(socketPath);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  checkPrivateDir(dir, uid);
  rmSync(socketPath, { force: true });
  const server = new SocketServer(options);
  await server.listen();
  return server;
}

/** Node tells the fd of a pipe's handle, though it has no name for it; -1: it has none. */
function fdOf(socket: net.Socket): number {
  return (socket as unknown as { _handle?: { fd?: number } | null })._handle?.fd ?? -1;
}

class SocketServer implements Server {
  readonly #options: ServerOptions;
  readonly #listener: net.Server;
  readonly #open = new Set<Connection>();
  readonly #refusing = new Set<Connection>();
  readonly #admissions = new Admissions();
  readonly #names = new ClientNames();
  readonly #repeats = new Repeats();
  readonly #startedAt: number;
  readonly #loopLag: LoopLag;
  #accepted = 0;
  #refusal: string | undefined;
  #sweeping: AbortController | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#startedAt = options.clock.mono();
    this.#loopLag = new LoopLag(options.clock);
    this.#listener = net.createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  get connections(): number {
    return this.#open.size;
  }

  get accepted(): number {
    return this.#accepted;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#listener.once("error", reject);
      this.#listener.listen(this.#options.socketPath, () => {
        this.#listener.off("error", reject);
        this.#listener.on("error", (error) => this.#options.log("error", `socket: ${error.message}`));
        chmodSync(this.#options.socketPath, 0o600);
        this.#options.processSockets?.serve((socket, uuid) => this.#accept(socket, uuid));
        this.#loopLag.start();
        resolve();
      });
    });
  }

  refuse(cause: string): void {
    this.#refusal = cause;
  }

  async drain(): Promise<void> {
    const all = [...this.#open, ...this.#refusing];
    for (const connection of all) connection.finish();
    if (all.length === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const waited = new AbortController();
    const late = this.#options.clock.sleep(DRAIN_MS, waited.signal).catch(() => {});
    await Promise.race([empty, late]);
    waited.abort();
    for (const connection of all) connection.destroy();
  }

  async close(): Promise<void> {
    this.#refusal ??= "daemon is shutting down";
    await this.drain();
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()));
    for (const connection of [...this.#open, ...this.#refusing]) connection.destroy();
    await closed;
    await this.#options.processSockets?.closeAll();
    this.#loopLag.stop();
    rmSync(this.#options.socketPath, { force: true });
  }

  /** `ownOf`: by the socket of a process; null: by the user's. */
  #accept(socket: net.Socket, ownOf: string | null = null): void {
    const { kernel, deps, clock, log, cookie } = this.#options;
    const peer = this.#options.peerOf?.(fdOf(socket)) ?? { kind: "unknown" };
    const child = ownerOf(peer, ownOf);
    const client = child === null ? undefined : kernel.clientOf(child);
    const principal = principalOf(peer, ownOf, () => client);
    const look = () => ({
      kernel,
      deps,
      clock,
      connections: this.#open.size,
      uptimeMs: Math.floor(clock.mono() - this.#startedAt),
      loopLag: this.#loopLag,
      repeats: this.#repeats,
    });
    const names = this.#names;
    const connection = new Connection(socket, { clock, log, look, principal, cookie, names });
    if (peer.kind === "other_user") log("warn", `a connection of user ${peer.uid} was refused`);
    const barred = this.#barred(peer);
    const admission = barred ?? this.#admissions.admit(claimantOf(peer, ownOf, client?.line));
    if (admission.kind === "refused" && this.#refusing.size >= MAX_REFUSING) {
      connection.destroy();
      return;
    }
    const room = admission.kind === "admitted" ? this.#open : this.#refusing;
    room.add(connection);
    this.#sweep();
    socket.once("close", () => {
      if (admission.kind === "admitted") admission.leave();
      this.#leave(connection);
    });
    if (admission.kind === "admitted") {
      this.#accepted++;
      void connection.serve();
    } else {
      const code = peer.kind === "other_user" ? "PERMISSION" : "UNAVAILABLE";
      void connection.refuse(new Fault({ code, ...admission }));
    }
  }

  /** Who is not even counted. */
  #barred(peer: Peer): Extract<Admission, { kind: "refused" }> | undefined {
    if (peer.kind === "other_user")
      return { kind: "refused", message: "this daemon serves its own user only" };
    const message = this.#refusal;
    return message === undefined ? undefined : { kind: "refused", message, fact: { kind: "stopping" } };
  }

  #leave(connection: Connection): void {
    this.#open.delete(connection);
    this.#refusing.delete(connection);
    if (this.#open.size + this.#refusing.size > 0) return;
    this.#sweeping?.abort();
    this.#sweeping = undefined;
    this.#onEmpty?.();
  }

  /** Runs while there are connections; its end is the last one's. */
  #sweep(): void {
    if (this.#sweeping !== undefined) return;
    const { clock } = this.#options;
    const stop = new AbortController();
    this.#sweeping = stop;
    const run = async () => {
      while (!stop.signal.aborted) {
        await clock.sleep(SWEEP_MS, stop.signal);
        const now = clock.mono();
        for (const connection of [...this.#open, ...this.#refusing]) connection.sweep(now);
      }
    };
    run().catch(() => {});
  }
}
