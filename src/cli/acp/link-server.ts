/**
 * The WebSocket end of `crux acp-link`: each connection has an agent of its own, whose lines are frames. Whoever connects
 * shows the token, in a header or as a subprotocol, never in the address; pages of other sites are refused.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex, Readable, Writable } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { Fault, messageOf } from "../../abi/errors.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { LineDecoder } from "../../wire/codec/ndjson.ts";
import { isRecord } from "./tool-call.ts";

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
const OVER = `more than ${MAX_MESSAGE_BYTES} bytes`;
/** Bytes on their way to a client; then its agent waits. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
const MAX_SOCKETS = 64;
/** How long an agent may work on after its connection has ended, in ms. */
const GRACE_MS = 30_000;
const SUBPROTOCOL = "crux.v1";
const TOKEN_PROTOCOL = "crux.auth.";
/** A token in the address would stand in logs and histories. */
const SECRET_PARAMETERS = ["token", "access_token", "key", "api_key", "auth"];

export interface LinkOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly address: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** For sessions whose client names no mode. */
  readonly mode?: PermissionMode | undefined;
  readonly token: string;
  readonly log: (words: string) => void;
}

export interface Link {
  readonly url: string;
  /** Ends every connection and every agent. */
  close(): Promise<void>;
}

type Agent = ChildProcessByStdio<Writable, Readable, null>;

/** CONFLICT: the port is taken. */
export async function startLink(options: LinkOptions): Promise<Link> {
  const { address, tls } = options;
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  const agents = new Set<Agent>();
  let connections = 0;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  server.on("request", (_request, response) => response.writeHead(404).end());
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refused = refusal(request, options, portOf(server), sockets.clients.size);
    if (refused !== undefined) return refuse(socket, refused);
    sockets.handleUpgrade(request, socket, head, (client) => {
      const prefix = `[acp-link] connection ${++connections}: `;
      relay(client, { ...options, log: (words) => options.log(prefix + words) }, agents);
    });
  });
  await listening(server, options);
  const host = address.includes(":") ? `[${address}]` : address;
  return {
    url: `${tls === undefined ? "ws" : "wss"}://${host}:${portOf(server)}/ws`,
    close: async () => {
      for (const client of sockets.clients) client.terminate();
      server.close();
      await Promise.all([...agents].map(ended));
    },
  };
}

function listening(server: Server, { address, port }: LinkOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === "EADDRINUSE";
      const message = isTaken ? `port ${port} is taken` : `cannot listen on ${address}: ${messageOf(cause)}`;
      reject(
        new Fault({
          code: isTaken ? "CONFLICT" : "UNAVAILABLE",
          message,
          hint: "choose another --port",
          cause,
        }),
      );
    });
    server.listen(port, address, resolve);
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** The status line of a refusal; undefined: the client may connect. */
function refusal(
  { url = "", headers }: IncomingMessage,
  { token, address, tls }: LinkOptions,
  port: number,
  open: number,
): string | undefined {
  const asked = new URL(url, "http://localhost");
  if (SECRET_PARAMETERS.some((name) => asked.searchParams.has(name))) return "400 Bad Request";
  if (asked.pathname !== "/ws") return "404 Not Found";
  const hosts = ["localhost", "127.0.0.1", "[::1]", address].map((name) => `${name}:${port}`);
  if (!hosts.includes((headers.host ?? "").toLowerCase())) return "403 Forbidden";
  const scheme = tls === undefined ? "http" : "https";
  const isForeign =
    headers.origin !== undefined && !hosts.some((each) => headers.origin === `${scheme}://${each}`);
  if (isForeign) return "403 Forbidden";
  if (!isSame(shownToken(headers), token)) return "401 Unauthorized";
  return open >= MAX_SOCKETS ? "503 Service Unavailable" : undefined;
}

function shownToken(headers: IncomingMessage["headers"]): string {
  const [, bearer] = /^Bearer (\S+)$/i.exec(headers.authorization ?? "") ?? [];
  if (bearer !== undefined) return bearer;
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const coded = offered.find((name) => name.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length) ?? "";
  return Buffer.from(coded, "base64url").toString("utf8");
}

/** In a time that tells nothing of either. */
function isSame(shown: string, token: string): boolean {
  const [a, b] = [shown, token].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

function refuse(socket: Duplex, status: string): void {
  socket.on("error", () => {});
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function relay(client: WebSocket, options: LinkOptions, agents: Set<Agent>): void {
  const { program, args, cwd, env, log } = options;
  const agent = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  agents.add(agent);
  let grace: NodeJS.Timeout | undefined;
  const over = (words: string): void => {
    agents.delete(agent);
    clearTimeout(grace);
    client.close(1011, words);
  };
  agent.on("error", (error) => {
    log(`${program}: ${messageOf(error)}`);
    over("the agent cannot be started");
  });
  agent.on("exit", (code, signal) => over(`the agent ended (${code ?? signal})`));
  agent.stdin.on("error", () => {});
  agent.stdin.on("drain", () => client.resume());
  client.on("message", (data, isBinary) => {
    if (isBinary) {
      log("a message that is not text; closed with 1003");
      return client.close(1003, "text only");
    }
    if (!agent.stdin.write(`${oneLine(String(data), options)}\n`)) client.pause();
  });
  client.on("error", (error: NodeJS.ErrnoException) => {
    const isTooLarge = error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
    log(isTooLarge ? `a message of ${OVER}; closed with 1009` : messageOf(error));
  });
  client.on("close", () => {
    agent.stdin.end();
    grace = setTimeout(() => agent.kill("SIGKILL"), GRACE_MS);
  });
  void sendLines(agent, client, log);
}

async function sendLines(agent: Agent, client: WebSocket, log: (words: string) => void): Promise<void> {
  const decoder = new LineDecoder(MAX_MESSAGE_BYTES);
  try {
    for await (const chunk of agent.stdout)
      for (const item of decoder.push(chunk as Buffer)) {
        if (item.kind === "too_long") {
          log(`a line of the agent of ${OVER}; closed with 1009`);
          return client.close(1009, "message too large");
        }
        const sent = new Promise((done) => client.send(item.line.toString("utf8"), done));
        if (client.bufferedAmount > MAX_UNSENT_BYTES) await sent;
      }
  } catch (error) {
    log(messageOf(error));
  }
}

/** A frame is one message, whatever line ends it has. A session without a mode gets the configured one. */
function oneLine(text: string, { mode }: LinkOptions): string {
  try {
    const message: unknown = JSON.parse(text);
    const isNew = isRecord(message) && message.method === "session/new" && isRecord(message.params);
    if (mode === undefined || !isNew) return JSON.stringify(message);
    const params = message.params as { _meta?: Record<string, unknown> | null };
    const _meta = { permissionMode: mode, ...params._meta };
    return JSON.stringify({ ...message, params: { ...params, _meta } });
  } catch {
    // the agent answers it as it answers every line that is not JSON
    return text.replace(/[\r\n]+/g, " ");
  }
}

function ended(agent: Agent): Promise<void> {
  return new Promise((resolve) => {
    if (agent.exitCode !== null || agent.signalCode !== null) return resolve();
    agent.once("exit", () => resolve());
    agent.stdin.end();
    agent.kill("SIGTERM");
    setTimeout(() => agent.kill("SIGKILL"), 2_000).unref();
  });
}
