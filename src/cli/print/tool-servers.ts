/**
 * Servers of tools that live in the client library: their MCP messages pass as `mcp_message` requests over stdout and
 * stdin. The daemon reaches them like any server over HTTP, on loopback and behind a token that nobody else has, so
 * their calls pass the gate like those of every MCP server.
 */
import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ControlAsk } from "../../abi/print/print.ts";
import type { Json } from "./json-schema.ts";
import type { Fields, UserLine } from "./user-line.ts";

const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Requests that the library has not answered; more are refused. */
const MAX_PENDING = 256;
/** A client that has not read so much of what was sent unasked is left: it opens another stream, and asks anew. */
const MAX_UNREAD_BYTES = 10 * 1024 * 1024;
/** Code of JSON-RPC for a failure of the server. */
const FAILED = -32_000;

type Answer = Extract<UserLine, { kind: "answer" }>;
type Entries = Record<string, Record<string, unknown>>;

export class ToolServers {
  readonly #put: (line: ControlAsk) => void;
  readonly #token = randomBytes(32).toString("base64url");
  /** By the name that the daemon calls it: its own name. */
  readonly #names = new Map<string, string>();
  readonly #pending = new Map<string, (response: Fields | undefined) => void>();
  /** Where messages go that a server sends unasked: the newest stream of each. */
  readonly #streams = new Map<string, ServerResponse>();
  #server: Server | undefined;
  /** Asked, and not awaited any more: a late answer is no mistake. The newest. */
  readonly #late = new Set<string>();
  #hasEnded = false;

  constructor(put: (line: ControlAsk) => void) {
    this.#put = put;
  }

  /** Adds servers by name. */
  add(names: readonly string[]): void {
    for (const name of names) this.#names.set(pathName(name), name);
  }

  /** Entries as in `.mcp.json`, once it listens; none where there are no servers. */
  async entries(): Promise<Entries> {
    if (this.#names.size === 0) return {};
    const server = createServer((request, response) => void this.#serve(request, response));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as AddressInfo;
    const headers = { authorization: `Bearer ${this.#token}` };
    const entryOf = (name: string) => ({ type: "http", url: `http://127.0.0.1:${port}/${name}`, headers });
    return Object.fromEntries([...this.#names.keys()].map((name) => [name, entryOf(name)]));
  }

  /** A line of stdin. false: it answers nothing that was asked here. */
  answered({ id, response }: Answer): boolean {
    const settle = this.#pending.get(id);
    settle?.(response);
    return settle !== undefined || this.#late.delete(id);
  }

  /** A message that a server sends unasked. Throws where there is no such server. */
  sent(fields: Fields): void {
    const { server_name: name, message } = fields;
    const found = [...this.#names].find(([, own]) => own === name);
    if (found === undefined) throw new Error(`no such server: ${String(name)}`);
    // a client that has no stream open is not listening: lists are read anew when they are needed
    const stream = this.#streams.get(found[0]);
    stream?.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    if (stream !== undefined && stream.writableLength > MAX_UNREAD_BYTES) this.#leave(found[0], stream);
  }

  #leave(name: string, stream: ServerResponse): void {
    stream.destroy();
    if (this.#streams.get(name) === stream) this.#streams.delete(name);
  }

  /** stdin has ended: nothing is answered any more. */
  end(): void {
    this.#hasEnded = true;
    for (const settle of [...this.#pending.values()]) settle(undefined);
  }

  [Symbol.dispose](): void {
    this.end();
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = (request.url ?? "").slice(1);
    const own = this.#names.get(name);
    if (!this.#isOurs(request)) return void response.writeHead(401).end();
    if (own === undefined) return void response.writeHead(404).end();
    if (request.method === "GET") return this.#stream(name, response);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = await bodyOf(request);
    if (message === undefined) return void response.writeHead(400).end();
    if (message.id === undefined || message.method === undefined) {
      this.#ask(own, message);
      return void response.writeHead(202).end();
    }
    const answer = await new Promise<Fields | undefined>((settle) => {
      const id = this.#ask(own, message, settle);
      if (id !== undefined) response.on("close", () => this.#cancel(id, response));
    });
    const { mcp_response: found } = answer ?? {};
    const error = { code: FAILED, message: "the program that has this server does not answer" };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(isFields(found) ? found : { jsonrpc: "2.0", id: message.id, error }));
  }

  #isOurs({ headers }: IncomingMessage): boolean {
    const [wanted, shown] = [`Bearer ${this.#token}`, headers.authorization ?? ""].map((text) =>
      Buffer.from(text),
    ) as [Buffer, Buffer];
    return wanted.length === shown.length && timingSafeEqual(wanted, shown);
  }

  #stream(name: string, response: ServerResponse): void {
    this.#streams.get(name)?.end();
    this.#streams.set(name, response);
    response.on("close", () => this.#leave(name, response));
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  }

  /** The id of the request. `settle` is called once, with undefined where no answer comes. */
  #ask(
    server_name: string,
    message: Fields,
    settle: (response: Fields | undefined) => void = () => {},
  ): string | undefined {
    if (this.#hasEnded || this.#pending.size >= MAX_PENDING) {
      settle(undefined);
      return undefined;
    }
    const request_id = randomUUID();
    this.#pending.set(request_id, (response) => {
      this.#pending.delete(request_id);
      settle(response);
    });
    const request = {
      subtype: "mcp_message" as const,
      server_name,
      message: message as Record<string, Json>,
    };
    this.#put({ type: "control_request", request_id, request });
    return request_id;
  }

  /** The daemon does not wait any more. */
  #cancel(id: string, { writableFinished }: ServerResponse): void {
    const settle = this.#pending.get(id);
    if (writableFinished || settle === undefined) return;
    settle(undefined);
    this.#late.add(id);
    for (const oldest of this.#late) if (this.#late.size > MAX_PENDING) this.#late.delete(oldest);
    this.#put({ type: "control_cancel_request", request_id: id });
  }
}

/** A name of a server is part of the names of its tools. */
function pathName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9-]+/g, "_").slice(0, 64);
}

/** undefined: too long, or not one message of JSON-RPC. */
async function bodyOf(request: IncomingMessage): Promise<Fields | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > MAX_BODY_BYTES) return undefined;
      parts.push(part);
    }
    const value: unknown = JSON.parse(Buffer.concat(parts).toString("utf8"));
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
