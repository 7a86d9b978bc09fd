/**
 * Redacts a program's output, a stream of bytes that is read live, as text. Output in which no secret begins passes as it
 * is; only around one that may be a secret it becomes text, for a closer look.
 */
import type { Redactor } from "./redact.ts";
import { RedactStream } from "./stream.ts";

/** A secret shows within so many bytes of its beginning. */
const HINT_BYTES = 16;
/** A last word below this is given out unless a secret may begin with it: a reader may wait for it, as for a prompt. */
const WORD_BYTES = 8;
/** Chunks of a program that writes at full speed: nobody waits for the end of one. */
const LARGE_BYTES = 4_096;
/** Patterns look back at most 8 characters. */
const CONTEXT_BYTES = 32;
const LF = 0x0a;
const NONE = Buffer.alloc(0);

export class RedactedBytes {
  readonly #redactor: Pick<Redactor, "scan" | "mayBegin" | "mayGoOn">;
  readonly #stream: RedactStream;
  /** What was held back here: it comes after what the stream holds. */
  #tail: Buffer = NONE;
  /** The end of what was given out while the stream was empty. */
  #context: Buffer = NONE;

  constructor(redactor: Pick<Redactor, "scan" | "mayBegin" | "mayGoOn">) {
    this.#redactor = redactor;
    this.#stream = new RedactStream(redactor);
  }

  /** How many bytes are held back. */
  get held(): number {
    return this.#tail.length + Buffer.byteLength(this.#stream.held);
  }

  /** The bytes may be those of the chunk. */
  push(chunk: Buffer): Uint8Array {
    const bytes = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    if (!this.#stream.isEmpty || this.#redactor.mayBegin(bytes)) return this.#looked(bytes);
    return this.#passed(bytes, bytes.length - this.#heldBytes(bytes));
  }

  /** As `push`, in one or two parts: what was held back is not copied together with a large chunk. */
  parts(chunk: Buffer): readonly Uint8Array[] {
    const tail = this.#tail;
    if (!this.#stream.isEmpty || tail.length === 0 || chunk.length < LARGE_BYTES) return [this.push(chunk)];
    const seam = Buffer.concat([tail, chunk.subarray(0, HINT_BYTES)]);
    if (this.#redactor.mayBegin(seam) || this.#redactor.mayBegin(chunk)) return [this.push(chunk)];
    return [tail, this.#passed(chunk, chunk.length - this.#heldBytes(chunk))];
  }

  end(): Uint8Array {
    if (this.#stream.isEmpty) return this.#tail;
    return Buffer.from(this.#stream.push(this.#tail.toString("utf8")) + this.#stream.end());
  }

  #passed(bytes: Buffer, until: number): Buffer {
    const given = bytes.subarray(0, until);
    this.#tail = until === bytes.length ? NONE : Buffer.from(bytes.subarray(until));
    this.#context = Buffer.concat([this.#context, given.subarray(-CONTEXT_BYTES)]).subarray(-CONTEXT_BYTES);
    return given;
  }

  #looked(bytes: Buffer): Uint8Array {
    const until = bytes.length - cutBytes(bytes);
    if (this.#stream.isEmpty) this.#stream.resume(this.#context.toString("utf8"));
    const given = Buffer.from(
      this.#stream.push(bytes.toString("utf8", 0, until), bytes.length < LARGE_BYTES),
    );
    this.#tail = Buffer.from(bytes.subarray(until));
    if (this.#redactor.mayBegin(Buffer.from(this.#stream.held))) return given;
    const { context, held } = this.#stream.take();
    this.#context = Buffer.from(context);
    const rest = Buffer.concat([Buffer.from(held), this.#tail]);
    return Buffer.concat([given, this.#passed(rest, rest.length - this.#heldBytes(rest))]);
  }

  /** How many bytes at the end may be the beginning of a secret, or of a character. */
  #heldBytes(bytes: Buffer): number {
    const last = bytes.at(-1);
    const end = bytes.subarray(-HINT_BYTES).toString("latin1");
    const word = bytes.length < LARGE_BYTES ? (/\S*$/.exec(end)?.[0].length ?? 0) : HINT_BYTES;
    if (last === LF) return cutBytes(bytes);
    if (word < WORD_BYTES && !this.#redactor.mayGoOn(bytes.subarray(-HINT_BYTES).toString("utf8")))
      return cutBytes(bytes);
    let at = Math.max(0, bytes.length - word);
    for (let n = 0; n < 3 && at > 0 && isInside(bytes[at] as number); n++) at--;
    return bytes.length - at;
  }
}

/** The bytes of a character that is not complete: the next chunk completes it. */
function cutBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (isInside(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}

/** A byte of a character that is not its first. */
function isInside(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
