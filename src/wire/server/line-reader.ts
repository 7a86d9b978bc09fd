/**
 * The input of a connection: lines in order, read ahead up to a bound; beyond it the client has to wait. A line that is
 * too long or a wrong first byte ends the reading, after the lines before it.
 */
import type { Socket } from "node:net";
import type { Clock } from "../../abi/program.ts";
import { PROTOCOL } from "../../abi/wire.ts";
import { type Decoded, LineDecoder } from "../codec/ndjson.ts";

/** Requests sent ahead are buffered up to this size; one longer line may be added. */
const READ_AHEAD_BYTES = 1024 * 1024;
/** Each buffered line counts this much more than its bytes. */
const LINE_OVERHEAD = 64;
const LF = 0x0a;
const CR = 0x0d;
const TEXT = 0x7b; // {
const FRAMES = 0x4b; // K

type Incoming =
  | Decoded
  /** The client speaks the binary wire: these are its first bytes, and nothing more is read here. */
  | { readonly kind: "frames"; readonly first: Buffer }
  | { readonly kind: "not_text" }
  | { readonly kind: "end" };

export class LineReader {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #decoder = new LineDecoder(PROTOCOL.maxLineBytes);
  #lines: Incoming[] = [];
  #queuedBytes = 0;
  #lastByteAt = 0;
  #begun = false;
  #done = false;
  #wake: (() => void) | undefined;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    socket.on("data", this.#onData);
    socket.on("end", () => this.#end());
    socket.on("close", () => this.#end());
  }

  readonly #onData = (chunk: Buffer): void => this.#take(chunk);

  /** How long an unfinished line has received no byte, in ms; 0 if there is none or we have paused reading. */
  unfinishedMs(now: number): number {
    return this.#decoder.pending === 0 || this.#done || this.#socket.isPaused() ? 0 : now - this.#lastByteAt;
  }

  async next(): Promise<Incoming> {
    while (this.#lines.length === 0) {
      if (this.#done) return { kind: "end" };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#shift();
  }

  /** What `read` makes of the next line, if that is here already; undefined: it is left for next(). */
  nextIf<T>(read: (line: Buffer) => T | undefined): T | undefined {
    const [next] = this.#lines;
    const made = next?.kind === "line" ? read(next.line) : undefined;
    if (made !== undefined) this.#shift();
    return made;
  }

  #shift(): Incoming {
    const next = this.#lines.shift() as Incoming;
    this.#queuedBytes -= sizeOf(next);
    const isRead = next.kind !== "frames";
    if (isRead && this.#socket.isPaused() && this.#queuedBytes < READ_AHEAD_BYTES) this.#resume();
    return next;
  }

  /** From now on input is discarded, but still read, so that the end of the client is noticed. next() returns `end`. */
  discard(): void {
    this.#done = true;
    this.#lines = [];
    this.#queuedBytes = 0;
    this.#resume();
    this.#signal();
  }

  #take(chunk: Buffer): void {
    if (this.#done) return;
    this.#lastByteAt = this.#clock.mono();
    const text = this.#begun ? chunk : this.#begin(chunk);
    if (text === undefined) return;
    for (const item of this.#decoder.push(text)) this.#queue(item);
    if (this.#queuedBytes >= READ_AHEAD_BYTES) this.#socket.pause();
  }

  /**
   * The first byte must be that of a text line; anything else is reported as `not_text`. Empty lines before it are
   * ignored, as everywhere.
   */
  #begin(chunk: Buffer): Buffer | undefined {
    const at = chunk.findIndex((byte) => byte !== LF && byte !== CR);
    if (at < 0) return undefined;
    this.#begun = true;
    if (chunk[at] === TEXT) return chunk.subarray(at);
    if (chunk[at] === FRAMES) return this.#leave(chunk.subarray(at));
    this.#queue({ kind: "not_text" });
    return undefined;
  }

  /** Paused, so that nothing is lost until the next reader listens. */
  #leave(first: Buffer): undefined {
    this.#socket.off("data", this.#onData);
    this.#socket.pause();
    this.#queue({ kind: "frames", first });
  }

  #queue(item: Incoming): void {
    this.#lines.push(item);
    this.#queuedBytes += sizeOf(item);
    if (item.kind !== "line") this.#done = true;
    this.#signal();
  }

  #end(): void {
    this.#done = true;
    this.#signal();
  }

  #resume(): void {
    this.#lastByteAt = this.#clock.mono();
    this.#socket.resume();
  }

  #signal(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

function sizeOf(item: Incoming): number {
  return item.kind === "line" ? item.line.length + LINE_OVERHEAD : LINE_OVERHEAD;
}
