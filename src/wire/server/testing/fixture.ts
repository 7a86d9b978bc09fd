/** A server on a socket of its own above a fake kernel, and clients that see raw bytes. */
import { mkdtempSync, rmSync } from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault } from "../../../abi/errors.ts";
import { VirtualClock } from "../../../kernel/testing/virtual-clock.ts";
import type { ServerDeps, ServerOptions } from "../deps.ts";
import { type Server, startServer } from "../server.ts";
import { FakeKernel } from "./fake-kernel.ts";

/** Sends text and collects the received bytes as text. */
export class RawClient {
  readonly socket: net.Socket;
  readonly closed: Promise<void>;
  #text = "";
  #wake: (() => void) | undefined;

  constructor(socket: net.Socket) {
    this.socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      this.#text += text;
      this.#wake?.();
    });
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        resolve();
        this.#wake?.();
      });
    });
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** The next line including its end; "" when the server has closed. */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#text.indexOf("\n") + 1;
      if (end > 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end);
        return line;
      }
      if (this.socket.destroyed) return "";
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async ask(request: string): Promise<string> {
    this.send(`${request}\n`);
    return this.line();
  }

  /** Everything received until the server closes. */
  async rest(): Promise<string> {
    await this.closed;
    const text = this.#text;
    this.#text = "";
    return text;
  }
}

export class ServerFixture {
  readonly dir = mkdtempSync(join(tmpdir(), "crux-wire-"));
  readonly socketPath = join(this.dir, "run", "crux.sock");
  readonly kernel = new FakeKernel();
  readonly clock = new VirtualClock();
  readonly logged: string[] = [];
  readonly loaded: unknown[] = [];
  shutdowns = 0;
  readonly deps: ServerDeps = {
    version: "0.1.0",
    home: "/home/someone",
    env: { FROM: "daemon" },
    loadAgent: async (name, { cwd, env }) => {
      this.loaded.push([name, cwd, env]);
      if (name === "missing") throw new Fault({ code: "NOT_FOUND", message: "agent not found: missing" });
      return null;
    },
    shutdown: () => void this.shutdowns++,
  };
  readonly #clients: RawClient[] = [];
  /** Options besides the fixed ones. */
  options: Partial<ServerOptions> = {};
  #server: Server | undefined;

  get server(): Server {
    if (this.#server === undefined) throw new Error("not started");
    return this.#server;
  }

  async start(): Promise<this> {
    const { socketPath, kernel, deps, clock } = this;
    const log = (level: string, message: string) => void this.logged.push(`${level} ${message}`);
    this.#server = await startServer({ socketPath, kernel, deps, clock, log, ...this.options });
    return this;
  }

  async connect(path = this.socketPath): Promise<RawClient> {
    const socket = net.connect({ path });
    const client = new RawClient(socket);
    this.#clients.push(client);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.socket.destroy();
    await this.#server?.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/**
 * Waits until the condition holds, one turn of the event loop at a time; the test's own timeout ends a wait in vain.
 */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
