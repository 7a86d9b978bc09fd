/**
 * The daemon's socket. Only the process that has claimed its folder may start it: anything left at the path is stale
 * then and is removed. Access is controlled by the folder (0700, own) and the mode of the socket (0600).
 */

import { chmodSync, mkdirSync, renameSync, rmSync } from "node:fs";
import * as net from "node:net";
import { Fault } from "../../abi/errors.ts";
import { ABORTED } from "../../lib/abort.ts";
import { parent } from "../../lib/paths.ts";
import { checkPrivateDir, checkSocketPath } from "../codec/address.ts";
import { type Admission, Admissions, claimantOf } from "./admission.ts";
import { ClientNames } from "./client-names.ts";
import { Connection } from "./connection.ts";
import type { ServerOptions } from "./deps.ts";
import { Idempotency } from "./frames/idempotency.ts";
import { linkLegacy } from "./legacy-link.ts";
import { LoopLag } from "./loop-lag.ts";
import { type OwnFile, ownFile } from "./own-file.ts";
import { ownerOf, type Peer, principalOf } from "./principal.ts";
import { Repeats } from "./repeats.ts";

const SWEEP_MS = 1_000;
/** The most connections that are being refused with an error; further ones are closed without an answer. */
const MAX_REFUSING = 64;
const DRAIN_MS = 1_000;

export interface Server {
  /** Connections open now. */
  readonly connections: number;
  /** Connections accepted since the start: shows an idle check that a client connected in between. */
  readonly accepted: number;
  /** From now on each new connection is refused with UNAVAILABLE and this cause; open ones continue. */
  refuse(cause: string): void;
  /** Ends all connections; requests in progress have a second to get their answer or the end of their stream. */
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
  const server = new SocketServer(options);
  await server.listen();
  return server;
}

/** The fd of the socket, which Node keeps on an undocumented handle; -1: no fd. */
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
  readonly #idempotency: Idempotency;
  readonly #startedAt: number;
  readonly #loopLag: LoopLag;
  #unlink: () => void = () => {};
  #socket: OwnFile | undefined;
  #accepted = 0;
  #refusal: string | undefined;
  #sweeping: AbortController | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#startedAt = options.clock.mono();
    this.#idempotency = new Idempotency(options.clock);
    this.#loopLag = new LoopLag(options.clock);
    options.deps.figuresFrom?.(() => ({
      uptimeMs: this.#uptimeMs,
      loopLagMs: Math.round(this.#loopLag.longestMs() * 10) / 10,
      processes: options.kernel.active(),
      connections: this.#open.size,
    }));
    this.#listener = net.createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  get connections(): number {
    return this.#open.size;
  }

  get accepted(): number {
    return this.#accepted;
  }

  /** The system removes the name that was listened at when it closes; by then a later daemon may have the usual one. */
  listen(): Promise<void> {
    const first = `${parent(this.#options.socketPath)}/s.${process.pid}`;
    rmSync(first, { force: true });
    return new Promise((resolve, reject) => {
      this.#listener.once("error", reject);
      this.#listener.listen(first, () => {
        this.#listener.off("error", reject);
        this.#listener.on("error", (error) => this.#options.log("error", `socket: ${error.message}`));
        const { socketPath, legacyPath, log } = this.#options;
        try {
          chmodSync(first, 0o600);
          renameSync(first, socketPath);
        } catch (error) {
          this.#listener.close();
          return reject(error as Error);
        }
        this.#socket = ownFile(socketPath);
        if (legacyPath !== undefined)
          this.#unlink = linkLegacy(legacyPath, socketPath, (words) => log("warn", words));
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
    waited.abort(ABORTED);
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
    this.#unlink();
    this.#socket?.remove();
  }

  get #uptimeMs(): number {
    return Math.floor(this.#options.clock.mono() - this.#startedAt);
  }

  /** `ownOf`: the process through whose socket the client connected; null: the user's socket. */
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
      uptimeMs: this.#uptimeMs,
      loopLag: this.#loopLag,
      repeats: this.#repeats,
      tokens: this.#options.tokens,
      idempotency: this.#idempotency,
    });
    const names = this.#names;
    const connection = new Connection(socket, {
      clock,
      log,
      look,
      principal,
      program: client,
      cookie,
      names,
    });
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
      this.#options.onConnect?.();
      void connection.serve();
    } else if (peer.kind === "other_user")
      void connection.turnAway(new Fault({ code: "PERMISSION", ...admission }));
    else void connection.refuse(new Fault({ code: "UNAVAILABLE", ...admission }));
  }

  /** Refuses connections before they are counted. */
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
    this.#sweeping?.abort(ABORTED);
    this.#sweeping = undefined;
    this.#onEmpty?.();
  }

  /** Runs while there are connections and ends with the last one. */
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
