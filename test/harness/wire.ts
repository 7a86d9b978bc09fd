/** A client of the text wire that sends bytes as they are given, right or wrong. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import * as net from "node:net";
import { dirname, join } from "node:path";

export interface Reply {
  readonly id?: string | number;
  readonly ok?: boolean;
  readonly type?: string;
  readonly payload?: Record<string, unknown>;
  readonly error?: { readonly code: string; readonly message: string; readonly syscall?: string };
}

export class Wire {
  readonly socket: net.Socket;
  readonly #lines: string[] = [];
  /** The pieces of the line that is coming: joined once, since a list of thousands of processes is one line. */
  #pieces: string[] = [];
  #wake: () => void = () => {};
  readonly #closed: Promise<unknown>;

  readonly #path: string;
  #isProven = false;

  private constructor(socket: net.Socket, path: string) {
    this.socket = socket;
    this.#path = path;
    // a server that has closed while we still send is what some tests are about
    socket.on("error", () => {});
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      const [first = "", ...others] = chunk.split("\n");
      this.#pieces.push(first);
      for (const next of others) {
        this.#lines.push(this.#pieces.join(""));
        this.#pieces = [next];
      }
      this.#wake();
    });
    socket.on("end", () => this.#wake());
    // not once(): a connection that breaks off is closed, too
    this.#closed = new Promise((resolve) => socket.on("close", resolve));
    void this.#closed.then(() => this.#wake());
  }

  static async open(path: string): Promise<Wire> {
    const socket = net.connect({ path, allowHalfOpen: true });
    await once(socket, "connect");
    return new Wire(socket, path);
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** The next line; undefined when the server ended without one. */
  async next(): Promise<Reply | undefined> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return JSON.parse(line) as Reply;
      if (this.socket.readableEnded || this.socket.destroyed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** As the user, who can read the cookie beside the socket. */
  async ask(method: string, payload?: unknown): Promise<Reply | undefined> {
    const refusal = await this.#prove();
    return refusal ?? this.askUnproven(method, payload);
  }

  /** As whoever it is. */
  async askUnproven(method: string, payload?: unknown): Promise<Reply | undefined> {
    this.send(`${JSON.stringify({ method, payload })}\n`);
    return this.next();
  }

  /** What a server says that takes nobody now. */
  async #prove(): Promise<Reply | undefined> {
    const path = join(dirname(this.#path), "crux.cookie");
    if (this.#isProven || !existsSync(path)) return undefined;
    this.#isProven = true;
    const reply = await this.askUnproven("auth", { cookie: readFileSync(path, "utf8") });
    return reply?.ok === true ? undefined : reply;
  }

  /** Every line until the server ends the connection. */
  async rest(): Promise<Reply[]> {
    const all: Reply[] = [];
    for (let line = await this.next(); line !== undefined; line = await this.next()) all.push(line);
    return all;
  }

  async close(): Promise<void> {
    this.socket.destroy();
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A session that a person follows, until its first run is over; whoever follows it is there until the wire is closed. */
export async function attended(
  path: string,
  words: string,
  more: object,
): Promise<{ wire: Wire; said: string }> {
  const wire = await Wire.open(path);
  const wish = { intent: words, session: true, interactive: true, ...more };
  let line = await wire.ask("spawn", wish);
  while (line !== undefined && line.payload?.event !== "idle") line = await wire.next();
  if (line === undefined) throw new Error("the session ended");
  return { wire, said: String(line.payload?.result) };
}
