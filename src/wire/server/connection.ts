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
import { ABORTED } from "../../lib/abort.ts";
import { toWireError } from "../codec/error.ts";
import { encodeLine } from "../codec/ndjson.ts";
import type { Log } from "./deps.ts";
import { Desk, type DeskOptions } from "./desk.ts";
import { FrameConnection } from "./frames/frame-connection.ts";
import { TextRequests } from "./frames/text-requests.ts";
import type { MethodAnswer } from "./handler.ts";
import { LineReader } from "./line-reader.ts";
import { LineWriter } from "./line-writer.ts";
import { invalid, isMethodName, type ParsedRequest, parseRequest, type RequestId } from "./request.ts";

interface Answer {
  readonly payload?: unknown;
  readonly follow?: MethodAnswer<MethodName>["follow"];
}

/** How long a client may take to close its end after we closed ours, or to say which wire it speaks, in ms. */
const LINGER_MS = 1_000;
/** Most starts that are carried out together; further ones wait. */
const STARTS_TOGETHER = 64;

/** A client that has sent its last may still read. One that has left refuses even this, and its stream ends. */
const NOTHING = Buffer.alloc(0);

export class Connection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #options: DeskOptions;
  readonly #desk: Desk;
  /** The connection speaks the binary wire. */
  #frames: FrameConnection | undefined;
  /** Made at the first request of the kernel IPC chapter on the text wire. */
  #ipc: TextRequests | undefined;
  readonly #reader: LineReader;
  readonly #writer: LineWriter;
  readonly #ended = new AbortController();
  readonly #gone = new AbortController();
  #closingSince: number | undefined;

  constructor(socket: Socket, options: DeskOptions) {
    this.#desk = new Desk(options, this.#ended.signal, this.#gone.signal);
    this.#options = options;
    this.#socket = socket;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#reader = new LineReader(socket, options.clock);
    this.#writer = new LineWriter(socket, options.clock);
    socket.on("error", () => socket.destroy());
    socket.on("end", () => this.#ended.abort(ABORTED));
    socket.on("close", () => {
      this.#ended.abort(ABORTED);
      this.#gone.abort(ABORTED);
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

  /** Answers with an error and closes, and reads nothing. */
  async turnAway(error: Fault): Promise<void> {
    await this.#respond({ ok: false, error: toWireError(error) });
    this.close();
  }

  /** Answers with an error and closes: on the wire of the client's first byte, on the text wire if none comes soon. */
  async refuse(error: Fault): Promise<void> {
    const waited = new AbortController();
    const late = this.#clock.sleep(LINGER_MS, waited.signal).catch(() => undefined);
    const first = await Promise.race([this.#reader.next(), late]);
    waited.abort(ABORTED);
    if (first?.kind !== "frames") return this.turnAway(error);
    await this.#serveFrames(first.first, error);
    this.close();
  }

  /** Pending output is still sent; sweep() cuts off a client that does not read it or does not close. */
  close(): void {
    this.#closingSince ??= this.#clock.mono();
    this.#reader.discard();
    this.#frames?.finish();
    this.#ended.abort(ABORTED);
    this.#socket.end();
  }

  /** Reads no further requests; the request in progress still gets its answer or the end of its stream. */
  finish(): void {
    this.#reader.discard();
    this.#frames?.finish();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Ends a connection whose time is over. Called about once a second. */
  sweep(now: number): void {
    const lingered = this.#closingSince === undefined ? 0 : now - this.#closingSince;
    const stalled = Math.max(this.#writer.stalledMs(now), this.#frames?.stalledMs(now) ?? 0);
    const unfinished = Math.max(this.#reader.unfinishedMs(now), this.#frames?.unfinishedMs(now) ?? 0);
    if (stalled >= PROTOCOL.noProgressMs) {
      this.#log("warn", `slow client: took no byte for ${PROTOCOL.noProgressMs / 1000}s, closed`);
      this.#socket.destroy();
    } else if (unfinished >= PROTOCOL.unfinishedLineMs) this.#socket.destroy();
    else if (lingered >= LINGER_MS && stalled === 0) this.#socket.destroy();
    else if (this.#closingSince === undefined) this.#probe();
  }

  #probe(): void {
    if (this.#ended.signal.aborted && this.#socket.writableLength === 0) this.#socket.write(NOTHING);
  }

  /** False: nothing more to serve. */
  async #serveNext(): Promise<boolean> {
    const next = await this.#reader.next();
    if (next.kind === "line") return this.#serveAll(this.#withStarts(parseRequest(next.line)));
    if (next.kind === "frames") return this.#serveFrames(next.first);
    if (next.kind === "too_long") return this.#failBad(`line is over ${PROTOCOL.maxLineBytes} bytes`);
    if (next.kind === "not_text") return this.#failBad("not a client of this wire: the first byte must be {");
    return false;
  }

  async #failBad(why: string): Promise<false> {
    this.#desk.logBad(why);
    await this.#fail(undefined, invalid(why));
    return false;
  }

  async #serveFrames(first: Buffer, refusal?: Fault): Promise<false> {
    this.#frames = new FrameConnection(this.#socket, this.#options, {
      desk: this.#desk,
      gone: this.#gone.signal,
      refusal,
    });
    await this.#frames.serve(first);
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
      const { method, payload } = request;
      const answer = isMethodName(method)
        ? await this.#desk.call(method, payload)
        : await this.#ipcRequests().call(method, request);
      return () => this.#answer(request.id, answer);
    } catch (error) {
      if (this.#hasLeft(error)) return async () => false;
      if (!(error instanceof Fault)) this.#log("error", `${request.method}: ${stackOf(error)}`);
      return () => this.#fail(request.id, error);
    }
  }

  #ipcRequests(): TextRequests {
    this.#ipc ??= new TextRequests(this.#options, { ended: this.#ended.signal, gone: this.#gone.signal });
    return this.#ipc;
  }

  async #answer(id: RequestId | undefined, answer: Answer): Promise<boolean> {
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

  async #fail(id: RequestId | undefined, error: unknown): Promise<boolean> {
    const written = await this.#respond(withId(id, { ok: false, error: toWireError(error) }));
    return written && this.#ipc?.isRefused !== true;
  }

  #respond(response: WireResponse): Promise<boolean> {
    return this.#writer.write(
      response.ok ? encodeLine(response) : this.#desk.withoutSecrets(encodeLine(response)),
    );
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
