/** A remote MCP server for tests, on loopback: it answers in plain JSON, and fails in the ways a test configures. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

type Json = Record<string, unknown>;

export class HttpServer {
  /** Tools that were called, in order. */
  readonly calls: string[] = [];
  /** Headers of the requests. */
  readonly headers: IncomingMessage["headers"][] = [];
  /** Answers every request with this status. */
  status: number | null = null;
  #session = 1;
  /** The stream of a client of the transport before this one. */
  #stream: ServerResponse | undefined;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  static async start(): Promise<HttpServer> {
    const made = new HttpServer();
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => made.stop());
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  /** The same tools by the transport before streamable HTTP. */
  get sseUrl(): string {
    return this.url.replace(/mcp$/, "sse");
  }

  /** Invalidates the session: requests with the old one are answered with 404. */
  forget(): void {
    this.#session++;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers.push(request.headers);
    if (this.status !== null) return void response.writeHead(this.status).end("told so");
    if (request.method === "GET" && request.url === "/sse") {
      this.#stream = response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.write("event: endpoint\ndata: /messages\n\n");
    }
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { method, params, id } = JSON.parse(await bodyOf(request)) as {
      method: string;
      params?: Json;
      id?: number;
    };
    if (request.url === "/messages") {
      response.writeHead(202).end();
      return this.#tell(id, method, params);
    }
    if (method === "initialize") {
      response.setHeader("mcp-session-id", String(this.#session));
      const capabilities = { tools: {} };
      const serverInfo = { name: "http", version: "1" };
      return reply(response, { id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
    }
    const session = request.headers["mcp-session-id"];
    if (session === undefined) return void response.writeHead(400).end("no session");
    if (session !== String(this.#session)) {
      response.writeHead(404, { "content-type": "application/json" });
      return void response.end(
        JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32001, message: "Session not found" } }),
      );
    }
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/list") {
      const tools = ["echo", "break", "huge", "gone"].map((name) => ({
        name,
        inputSchema: { type: "object" },
      }));
      return reply(response, { id, result: { tools } });
    }
    if (method === "tools/call") return this.#call(response, String(params?.name), id);
    return reply(response, { id, result: {} });
  }

  #tell(id: number | undefined, method: string, params: Json | undefined): void {
    if (id === undefined) return;
    const results: Record<string, Json> = {
      initialize: {
        ...{ protocolVersion: "2024-11-05", capabilities: { tools: {} } },
        serverInfo: { name: "sse", version: "1" },
      },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "hello" }] },
      ping: {},
    };
    if (method === "tools/call") this.calls.push(String(params?.name));
    const result = results[method];
    const answer = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
    this.#stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n\n`);
  }

  #call(response: ServerResponse, name: string, id: number): void {
    this.calls.push(name);
    if (name === "break") return void response.socket?.destroy();
    if (name === "gone") return void response.writeHead(503).end("no");
    const text = name === "huge" ? "x".repeat(11 * 1024 * 1024) : "hello";
    reply(response, { id, result: { content: [{ type: "text", text }] } });
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

function reply(response: ServerResponse, message: Json): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
}
