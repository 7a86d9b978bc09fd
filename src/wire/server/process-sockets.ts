/**
 * A socket for each process whose programs may talk to the daemon: a connection through it has exactly that process's
 * rights. Created when its first program starts, removed with the process. These sockets lie in a folder of their own
 * beside the user's socket, so that a sandbox can hide the one and show the others. Only the holder of the daemon's
 * lease creates this.
 */
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import * as net from "node:net";
import type { Log } from "./deps.ts";
import { type OwnFile, ownFile } from "./own-file.ts";

const MAX_SOCKET_PATH_BYTES = 107;

export class ProcessSockets {
  readonly #mainPath: string;
  readonly #dir: string;
  readonly #log: Log;
  readonly #open = new Map<string, net.Server>();
  /** null: not serving yet, or no longer. */
  #accept: ((socket: net.Socket, uuid: string) => void) | null = null;
  #isClosed = false;
  #made: OwnFile | undefined;

  /** Removes what an earlier daemon left. */
  constructor(mainPath: string, log: Log) {
    this.#mainPath = mainPath;
    this.#dir = `${mainPath}.d`;
    this.#log = log;
    this.#tried(() => rmSync(this.#dir, { recursive: true, force: true }));
  }

  /**
   * The path of a process's socket, whether it exists or not. If that path is too long for the system, the user's own
   * socket: there the process is identified by its ancestry.
   */
  pathOf(uuid: string): string {
    const name = createHash("sha256").update(uuid).digest("hex").slice(0, 16);
    const path = `${this.#dir}/${name}`;
    return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? path : this.#mainPath;
  }

  /** Listens when it returns. */
  open(uuid: string): string {
    const path = this.pathOf(uuid);
    if (this.#isClosed || path === this.#mainPath || this.#open.has(uuid)) return path;
    const server = net.createServer({ allowHalfOpen: true }, (socket) => this.#take(socket, uuid));
    server.on("error", (error) => this.#log("error", `socket of a process: ${error.message}`));
    const isMade = mkdirSync(this.#dir, { recursive: true, mode: 0o700 }) !== undefined;
    if (isMade) this.#made = ownFile(this.#dir);
    this.#open.set(uuid, server);
    server.listen(path, () => this.#restrict(uuid, path));
    return path;
  }

  /** Called when the process has ended. */
  close(uuid: string): void {
    this.#open.get(uuid)?.close();
    this.#open.delete(uuid);
  }

  /** From now on new connections are passed to `accept`. */
  serve(accept: (socket: net.Socket, uuid: string) => void): void {
    this.#accept = accept;
  }

  async closeAll(): Promise<void> {
    this.#isClosed = true;
    this.#accept = null;
    const closed = [...this.#open.values()].map(
      (server) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    this.#open.clear();
    await Promise.all(closed);
    this.#tried(() => this.#made?.remove());
  }

  get size(): number {
    return this.#open.size;
  }

  /** The folder is closed to others already. The socket may have been closed meanwhile. */
  #restrict(uuid: string, path: string): void {
    try {
      if (this.#open.has(uuid)) chmodSync(path, 0o600);
    } catch (error) {
      this.#log("warn", `${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #take(socket: net.Socket, uuid: string): void {
    if (this.#accept === null) socket.destroy();
    else this.#accept(socket, uuid);
  }

  #tried(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#log("warn", `${this.#dir}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
