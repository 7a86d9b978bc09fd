/**
 * One client. Requests are answered one after the other in order of arrival; a stream occupies the connection and ends
 * by closing it. Detached starts that were sent ahead are carried out together: each waits for the journal, which then
 * syncs once for all of them. Nothing a client sends may end the daemon.
 */
import type { Socket } from "node:net";
import { Fault } from "../../abi/errors.ts";
import type { MethodName } from "../../abi/methods/methods.ts";
import type { Clock } from "../../abi/program.ts";
import { PROTOCOL, type WireResponse } from "../../abi/wire.ts";
import { toWireError } from "../codec/error.ts";
import { encodeLine } from "../codec/ndjson.ts";
import { authorize } from "./authority.ts";
import type { ClientNames } from "./client-names.ts";
import type { Log } from "./deps.ts";
import type { MethodAnswer, RequestContext } from "./handler.ts";
import { HANDLERS } from "./handlers.ts";
import { LineReader } from "./line-reader.ts";
import { LineWriter } from "./line-writer.ts";
import { isCookie, nameOf, type Principal } from "./principal.ts";
import { kernelFor } from "./process-kernel.ts";
import { invalid, type ParsedRequest, parseParams, parseRequest, type RequestId } from "./request.ts";

/** How long a client may take to close its end after we closed ours, in ms. */
const LINGER_MS = 1_000;
/** Most starts that are carried out together; further ones wait. */
const STARTS_TOGETHER = 64;

type ServerContext = Pick<
  RequestContext,
  "kernel" | "deps" | "clock" | "connections" | "uptimeMs" | "loopLag" | "repeats"
>;

interface ConnectionOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly look: () => ServerContext;
  readonly principal: Principal;
  /** undefined: users need no proof. */
  readonly cookie?: string | undefined;
  readonly names: ClientNames;
}

export class Connection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #look: () => ServerContext;
  readonly #reader: LineReader;
  readonly #writer: LineWriter;
  readonly #ended = new AbortController();
  readonly #gone = new AbortController();
  readonly #cookie: string | undefined;
  readonly #names: ClientNames;
  #name = "";
  #principal: Principal;
  #closingSince: number | undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#principal = options.principal;
    this.#cookie = options.cookie;
    this.#names = options.names;
    this.#socket = socket;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#look = options.look;
    this.#reader = new LineReader(socket, options.clock);
    this.#writer = new LineWriter(socket, options.clock);
    socket.on("error", () => socket.destroy());
    socket.on("end", () => this.#ended.abort());
    socket.on("close", () => {
      this.#ended.abort();
      this.#gone.abort();
    });
  }

  /** Resolves when the connection was closed by either side; never rejects. */
  async serve(): Promise<void> {
    try {
      while (await this.#serveNext());
    } catch (error) {
      this.#log("error", `connection: ${stackOf(error)}`);
    }
    this.close();
  }

  /** Answers with an error and closes. */
  async refuse(error: Fault): Promise<void> {
    await this.#respond({ ok: false, error: toWireError(error) });
    this.close();
  }

  /** Pending output is still sent; sweep() cuts off a client that does not read it or does not close. */
  close(): void {
    this.#closingSince ??= this.#clock.mono();
    this.#reader.discard();
    this.#ended.abort();
    this.#socket.end();
  }

  /** Reads no further requests; the request in progress still gets its answer or the end of its stream. */
  finish(): void {
    this.#reader.discard();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Ends a connection whose time is over. Called about once a second. */
  sweep(now: number): void {
    const lingered = this.#closingSince === undefined ? 0 : now - this.#closingSince;
    if (this.#writer.stalledMs(now) >= PROTOCOL.noProgressMs) {
      this.#log("warn", `slow client: took no byte for ${PROTOCOL.noProgressMs / 1000}s, closed`);
      this.#socket.destroy();
    } else if (this.#reader.unfinishedMs(now) >= PROTOCOL.unfinishedLineMs) this.#socket.destroy();
    else if (lingered >= LINGER_MS && this.#writer.stalledMs(now) === 0) this.#socket.destroy();
  }

  /** False: nothing more to serve. */
  async #serveNext(): Promise<boolean> {
    const next = await this.#reader.next();
    if (next.kind === "line") return this.#serveAll(this.#withStarts(parseRequest(next.line)));
    if (next.kind === "too_long")
      await this.#fail(undefined, invalid(`line is over ${PROTOCOL.maxLineBytes} bytes`));
    if (next.kind === "not_text")
      await this.#fail(undefined, invalid("not a client of this wire: the first byte must be {"));
    return false;
  }

  /** The request; if it is a start, also the starts right behind it. */
  #withStarts(first: ParsedRequest): readonly ParsedRequest[] {
    const all = [first];
    for (let last: ParsedRequest | undefined = first; last !== undefined && isStart(last); ) {
      if (all.length === STARTS_TOGETHER) break;
      last = this.#reader.nextIf((line) => {
        const request = parseRequest(line);
        return isStart(request) ? request : undefined;
      });
      if (last !== undefined) all.push(last);
    }
    return all;
  }

  /** Carries them out together, and answers them in order. False: nothing more to serve. */
  async #serveAll(requests: readonly ParsedRequest[]): Promise<boolean> {
    const answers = requests.map((request) => this.#carriedOut(request));
    let isOpen = true;
    for (const answer of answers) {
      const send = await answer;
      isOpen = isOpen && (await send());
    }
    return isOpen;
  }

  /** Never rejects. Resolves with what sends the answer. */
  async #carriedOut(request: ParsedRequest): Promise<() => Promise<boolean>> {
    if (request.kind === "bad") return () => this.#fail(request.id, request.error);
    try {
      const answer = await this.#call(request.method, request.payload);
      return () => this.#answer(request.id, answer);
    } catch (error) {
      if (this.#hasLeft(error)) return async () => false;
      if (!(error instanceof Fault)) this.#log("error", `${request.method}: ${stackOf(error)}`);
      return () => this.#fail(request.id, error);
    }
  }

  async #answer(id: RequestId | undefined, answer: MethodAnswer<MethodName>): Promise<boolean> {
    if (answer.follow !== undefined) this.#reader.discard();
    const { payload } = answer;
    const response: WireResponse = { ok: true, ...(payload === undefined ? {} : { payload }) };
    const written = await this.#respond(withId(id, response));
    if (answer.follow === undefined) return written;
    await answer.follow((text) => this.#writer.write(text));
    return false;
  }

  /** Work aborted because the client left is not an error, and no answer is expected. */
  #hasLeft(error: unknown): boolean {
    return [this.#ended, this.#gone].some(({ signal }) => signal.aborted && error === signal.reason);
  }

  async #call<M extends MethodName>(method: M, payload: unknown): Promise<MethodAnswer<M>> {
    const params = parseParams(method, payload);
    const principal = this.#principal;
    authorize(principal, method, params, this.#cookie !== undefined);
    const around = this.#look();
    const kernel = principal.kind === "process" ? kernelFor(around.kernel, principal.client) : around.kernel;
    return HANDLERS[method](params, {
      ...around,
      kernel,
      principal,
      prove: (cookie) => this.#prove(cookie),
      client: this.#name,
      claimName: (name) => {
        this.#names.claim(name, this, this.#isProven);
        this.#name = name;
      },
      ended: this.#ended.signal,
      gone: this.#gone.signal,
    });
  }

  get #isProven(): boolean {
    return this.#principal.kind === "user" && (this.#principal.isProven || this.#cookie === undefined);
  }

  /** A child keeps its principal, even with the right cookie. */
  #prove(cookie: string): string | undefined {
    if (!isCookie(this.#cookie, cookie)) {
      this.#log("warn", `${nameOf(this.#principal)} showed a wrong cookie`);
      return undefined;
    }
    if (this.#principal.kind === "user") this.#principal = { ...this.#principal, isProven: true };
    return nameOf(this.#principal);
  }

  #fail(id: RequestId | undefined, error: unknown): Promise<boolean> {
    return this.#respond(withId(id, { ok: false, error: toWireError(error) }));
  }

  #respond(response: WireResponse): Promise<boolean> {
    return this.#writer.write(
      response.ok ? encodeLine(response) : this.#withoutSecrets(encodeLine(response)),
    );
  }

  /** An error message may come from an external server that echoes what it was sent. */
  #withoutSecrets(line: string): string {
    const { redacted } = this.#look().deps;
    return redacted === undefined ? line : Buffer.from(redacted(Buffer.from(line))).toString();
  }
}

/** A start that is over with its answer: nothing follows on the connection. */
function isStart(request: ParsedRequest): boolean {
  if (request.kind === "bad" || request.method !== "spawn") return false;
  return (request.payload as { readonly detach?: unknown } | null | undefined)?.detach === true;
}

function withId(id: RequestId | undefined, response: WireResponse): WireResponse {
  return id === undefined ? response : { id, ...response };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
