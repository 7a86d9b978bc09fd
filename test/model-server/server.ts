/**
 * A model server on loopback that speaks Anthropic Messages, OpenAI Chat Completions, OpenAI Responses, Gemini's
 * generateContent and Ollama's own chat, and answers by script.
 * It refuses what the vendors refuse, so a client that passes here sends requests they would take.
 *
 *   await using server = await startModelServer({ script: [toolUse({ name: "ls" }), text("Done.")] });
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { PromptCache, type PromptCacheOptions } from "./anthropic/prompt-cache.ts";
import { plainRequest } from "./anthropic/vertex.ts";
import { countInvoke, invokeRequest, refuseSignature } from "./bedrock/request.ts";
import { readBody } from "./body.ts";
import { deliver, type Exchange, sendError } from "./deliver.ts";
import { dialects } from "./dialect.ts";
import { type ApiError, apiError, invalidRequest } from "./error.ts";
import { Mint } from "./identity.ts";
import { findObject } from "./json.ts";
import type { Limits } from "./limits.ts";
import { Outlet } from "./outlet.ts";
import { PrefixCache } from "./prefix-cache.ts";
import type { Reply } from "./reply.ts";
import { type DialectName, type HttpRequest, type ModelRequest, readRequest } from "./request.ts";
import { findRoute, type Route } from "./route.ts";
import { helperReply, type Script, ScriptRunner } from "./script.ts";
import {
  countTokens,
  listModels,
  refuseKey,
  refuseMethod,
  refusePath,
  type SideAnswer,
  showModel,
} from "./side.ts";
import { Traffic } from "./traffic.ts";

export interface ModelServerOptions {
  readonly script: Script;
  /** Answers requests without tools, and what a script of `when` entries alone does not match. */
  readonly helperDefault?: boolean | string | Reply;
  /** 0 picks a free port. */
  readonly port?: number;
  /** The only key taken; any, and none, when left out. */
  readonly apiKey?: string;
  /** The models that exist; when left out, all do. */
  readonly models?: readonly string[];
  /** Prompts over it (4 bytes to a token) are refused in the vendor's wording. */
  readonly contextWindowTokens?: number;
  readonly maxOutputTokens?: number;
  readonly maxBodyBytes?: number;
  /** False takes any request. */
  readonly validate?: boolean;
  readonly alternation?: "strict" | "merge";
  /** Thinking blocks that come back must carry the signature this server gave them, for the same model. */
  readonly verifySignatures?: boolean;
  /** Entries kept per list of the record. */
  readonly keepRequests?: number;
  /** Refuses an output limit that does not fit beside the prompt, as vLLM does. */
  readonly countsOutput?: boolean;
  /** What the models can do, as Ollama's server says; when left out, all that there is. */
  readonly capabilities?: readonly string[];
  /** Counts what is cached, from the bytes of the requests; without it no request is cached. */
  readonly promptCache?: PromptCacheOptions;
  /** Makes ids repeatable. */
  readonly seed?: string;
}

const megabyte = 1024 * 1024;
const defaultMaxBodyBytes = 32 * megabyte;
const defaultKeep = 10_000;

export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const server = new ModelServer(options);
  await server.listen(options.port ?? 0);
  return server;
}

export class ModelServer {
  readonly #options: ModelServerOptions;
  readonly #limits: Limits;
  readonly #http: Server;
  readonly #mint: Mint;
  readonly #traffic: Traffic;
  readonly #sockets = new Set<Socket>();
  /** Exchanges under way; `close` waits for them. */
  readonly #running = new Set<Promise<void>>();
  readonly #cache: PromptCache | undefined;
  readonly #prefixes: PrefixCache | undefined;
  #script: ScriptRunner;
  #closed: Promise<void> | undefined;

  constructor(options: ModelServerOptions) {
    this.#options = options;
    this.#limits = {
      contextWindowTokens: options.contextWindowTokens ?? Number.MAX_SAFE_INTEGER,
      maxOutputTokens: options.maxOutputTokens ?? Number.MAX_SAFE_INTEGER,
      models: options.models === undefined ? undefined : new Set(options.models),
      alternation: options.alternation ?? "strict",
      verifySignatures: options.verifySignatures ?? false,
      countsOutput: options.countsOutput ?? false,
      capabilities: options.capabilities ?? ["completion", "tools", "thinking", "vision"],
    };
    this.#cache = options.promptCache === undefined ? undefined : new PromptCache(options.promptCache);
    this.#prefixes = options.promptCache === undefined ? undefined : new PrefixCache(options.promptCache);
    this.#mint = new Mint(options.seed);
    this.#traffic = new Traffic(options.keepRequests ?? defaultKeep);
    this.#script = new ScriptRunner(options.script, helperReply(options.helperDefault));
    this.#http = createServer(
      { requestTimeout: 0, keepAliveTimeout: 0, noDelay: true },
      (request, response) => {
        const run = this.#handle(request, response).finally(() => this.#running.delete(run));
        this.#running.add(run);
      },
    );
    this.#http.on("connection", (socket) => this.#track(socket));
  }

  async listen(port: number): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#http.once("error", done.reject);
    this.#http.listen(port, "127.0.0.1", done.resolve);
    await done.promise;
    this.#http.off("error", done.reject);
  }

  get port(): number {
    // after listen() on TCP the address is always of this kind
    return (this.#http.address() as AddressInfo).port;
  }

  /** The origin, without a trailing slash. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Closes the connections that wait for a request; the number of those that were open. */
  closeIdle(): number {
    const open = this.#sockets.size;
    this.#http.closeIdleConnections();
    return open;
  }

  get anthropicBaseUrl(): string {
    return this.url;
  }

  get openaiBaseUrl(): string {
    return `${this.url}/v1`;
  }

  get geminiBaseUrl(): string {
    return `${this.url}/v1beta`;
  }

  get requests() {
    return this.#traffic.requests;
  }

  get sideRequests() {
    return this.#traffic.sideRequests;
  }

  get rejected() {
    return this.#traffic.rejected;
  }

  get unexpected() {
    return this.#traffic.unexpected;
  }

  get aborted() {
    return this.#traffic.aborted;
  }

  /** Valid model requests so far, also those beyond `keepRequests`. */
  get requestCount(): number {
    return this.#traffic.requestCount;
  }

  /** How many waits of the script began so far that end by themselves. */
  get pauses(): number {
    return this.#traffic.pauses;
  }

  /** How many replies went silent without an end so far. */
  get silences(): number {
    return this.#traffic.silences;
  }

  get inFlight(): number {
    return this.#traffic.inFlight;
  }

  get maxConcurrency(): number {
    return this.#traffic.maxConcurrency;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  /** Replaces the script; its turns count from 0. Replies under way are not touched. */
  use(script: Script): void {
    this.#script = new ScriptRunner(script, helperReply(this.#options.helperDefault));
  }

  /** Resolves once `predicate`, which looks at this server, holds; rejects when the server closes first. */
  waitFor(predicate: () => boolean, signal?: AbortSignal): Promise<void> {
    return this.#traffic.waitFor(predicate, signal);
  }

  /** Ends every socket and waits until all is quiet. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #shutDown(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#http.close(() => closed.resolve());
    for (const socket of this.#sockets) socket.destroy();
    await closed.promise;
    // the server may count itself closed before the last socket has told us
    await this.#traffic.waitFor(() => this.#sockets.size === 0);
    await Promise.allSettled(this.#running);
    this.#traffic.close();
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#traffic.changed();
    });
    this.#traffic.changed();
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const outlet = new Outlet(response, (isEndless) => {
      if (isEndless) this.#traffic.silences += 1;
      else this.#traffic.pauses += 1;
      this.#traffic.changed();
    });
    const body = await readBody(message, this.#options.maxBodyBytes ?? defaultMaxBodyBytes);
    if (body.kind === "gone") return;
    const [path = "/", query = ""] = (message.url ?? "/").split("?", 2);
    const rawBody = body.kind === "whole" ? body.text : "";
    const http: HttpRequest = {
      method: message.method ?? "GET",
      path,
      query,
      headers: message.headers,
      rawBody,
    };
    const route = findRoute(http.method, path, message.headers);
    const requestId = this.#mint.next("req_011C");
    const exchange = { requestId, dialect: dialects[route.dialect], outlet };
    const known = route.to === "model" || route.to === "count" || route.to === "models";
    const key = this.#options.apiKey;
    const check = route.dialect === "bedrock" ? refuseSignature : refuseKey;
    const refusal = known ? check(http, key, route.dialect) : undefined;
    if (refusal !== undefined) this.#reject(http, refusal, exchange);
    else if (body.kind === "too large") this.#reject(http, apiError(413), exchange);
    else if (route.to === "model") await this.#answerModel(http, route.dialect, exchange);
    else this.#answerSide(http, route, exchange);
  }

  #reject(http: HttpRequest, error: ApiError, exchange: Omit<Exchange, "request">): void {
    const { status, message } = error;
    this.#traffic.add(this.#traffic.rejected, { request: http, status, message });
    sendError(error, exchange);
    this.#traffic.changed();
  }

  #answerSide(
    http: HttpRequest,
    route: Exclude<Route, { to: "model" }>,
    exchange: Omit<Exchange, "request">,
  ): void {
    const answer = this.#sideAnswer(http, route);
    const { dialect, outlet, requestId } = exchange;
    const status = answer.kind === "ok" ? 200 : dialect.statusOf(answer.error);
    this.#traffic.add(this.#traffic.sideRequests, { ...http, status });
    if (answer.kind === "error") sendError(answer.error, exchange);
    else {
      outlet.open(200, { ...dialect.headers(requestId), "content-type": "application/json" });
      outlet.end(JSON.stringify(answer.body));
    }
    this.#traffic.changed();
  }

  #sideAnswer(http: HttpRequest, route: Exclude<Route, { to: "model" }>): SideAnswer {
    switch (route.to) {
      case "models":
        return listModels(route.dialect, route.id, this.#limits);
      case "version":
        return { kind: "ok", body: { version: "0.14.0" } };
      case "show":
        return showModel(http, this.#limits);
      case "count": {
        const body = findObject(http.rawBody);
        if (body === undefined) return { kind: "error", error: notJson };
        if (route.dialect === "bedrock") return countInvoke(http, body);
        return countTokens(readRequest(http, "anthropic", body, this.#script.turn), this.#limits);
      }
      case "wrong method":
        return { kind: "error", error: refuseMethod(http, route.dialect) };
      case "unknown":
        return { kind: "error", error: refusePath(http, route.dialect) };
    }
  }

  async #answerModel(
    http: HttpRequest,
    dialect: DialectName,
    part: Omit<Exchange, "request">,
  ): Promise<void> {
    const whole = findObject(http.rawBody);
    if (whole === undefined) return this.#reject(http, notJson, part);
    const asked = dialect === "bedrock" ? invokeRequest(http, whole) : plainRequest(http, whole);
    if (!("body" in asked)) return this.#reject(http, asked, part);
    const { body } = asked;
    const plain = readRequest(asked.http, dialect, body, this.#script.turn);
    const refusal = this.#options.validate === false ? undefined : part.dialect.refuse(plain, this.#limits);
    if (refusal !== undefined) return this.#reject(http, refusal, part);
    const cache =
      dialect === "anthropic" || dialect === "bedrock" ? this.#cache?.use(body) : this.#prefixes?.use(body);
    const request = cache === undefined ? plain : { ...plain, cache };
    const exchange: Exchange = { ...part, request };
    const { outlet } = exchange;
    // before the reply is chosen, so that the count is right when the socket goes first
    outlet.signal.addEventListener("abort", () => this.#finished(exchange), { once: true });
    this.#traffic.began(request);
    if (outlet.signal.aborted) return this.#finished(exchange);
    try {
      const surprise = await this.#reply(exchange);
      if (surprise !== undefined) this.#surprise(request, surprise);
    } catch (error) {
      if (outlet.signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      this.#surprise(request, `the script failed: ${reason}`);
      if (outlet.hasStarted) await outlet.cut(false);
      else sendError(apiError(500, { message: `model server: the script failed: ${reason}` }), exchange);
    }
  }

  async #reply(exchange: Exchange): Promise<string | undefined> {
    const { request, outlet } = exchange;
    const choice = this.#script.choose(request);
    if (choice.kind === "none") {
      sendError(apiError(500, { message: `model server: ${choice.reason}` }), exchange);
      return choice.reason;
    }
    if (typeof choice.answer !== "function") return deliver(choice.answer, exchange, this.#mint);
    const pending = Promise.resolve(choice.answer(request));
    await outlet.wait(pending);
    return outlet.signal.aborted ? undefined : deliver(await pending, exchange, this.#mint);
  }

  #surprise(request: ModelRequest, reason: string): void {
    this.#traffic.add(this.#traffic.unexpected, { request, reason });
    this.#traffic.changed();
  }

  /** Once per model request, when its connection is done with it. */
  #finished({ request, outlet }: Exchange): void {
    this.#traffic.inFlight -= 1;
    if (outlet.isAborted && this.#closed === undefined) {
      this.#traffic.add(this.#traffic.aborted, { request, eventsSent: outlet.eventsSent });
    }
    this.#traffic.changed();
  }
}

const notJson = invalidRequest("The request body is not valid JSON: expected an object");
