/**
 * The messages of the last requests, by the bytes they came in: a conversation grows at its end, so of its next request only that
 * end is read and checked. Whatever the bytes are, what is read is what reading all of them at once would give.
 */
import { randomUUID } from "node:crypto";
import type { WireMessage } from "../abi/llm.ts";

/** Of all files together; those that were used longest ago are forgotten first. In memory each byte counts about three times. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Around the messages. No string of JSON can hold the first: its quotes would be escaped. */
const OPENING = Buffer.from(',"messages":[');
const CLOSING = Buffer.from('],"maxOutputTokens":');
const COMMA = 0x2c;
/** In the place of the messages while the rest is read. No request can name it. */
const STAND_IN = randomUUID();

interface Known {
  /** What stands between the brackets. */
  readonly bytes: Buffer;
  readonly messages: readonly WireMessage[];
}

interface RequestParts {
  /** The request with a stand-in for its messages. */
  readonly rest: Buffer;
  /** What stands between their brackets. */
  readonly messages: Buffer;
}

/** undefined: it is written in another way. */
export function requestParts(data: Uint8Array): RequestParts | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const from = bytes.indexOf(OPENING) + OPENING.byteLength;
  const to = bytes.lastIndexOf(CLOSING);
  if (from < OPENING.byteLength || to < from) return undefined;
  const rest = [bytes.subarray(0, from), Buffer.from(`"${STAND_IN}"`), bytes.subarray(to)];
  return { rest: Buffer.concat(rest), messages: bytes.subarray(from, to) };
}

/** Else the brackets were others than those of the request's own messages. */
export function hasStandIn(rest: unknown): rest is object {
  if (typeof rest !== "object" || rest === null || !("messages" in rest)) return false;
  const { messages } = rest;
  return Array.isArray(messages) && messages.length === 1 && messages[0] === STAND_IN;
}

export class KnownMessages {
  /** In order of last use. */
  readonly #files = new Map<object, Known>();
  #bytes = 0;

  /** What `file` was sent last, if `bytes` goes on from it: those messages, and the bytes behind them. Else no messages, and all. */
  before(file: object, bytes: Buffer): { messages: readonly WireMessage[]; more: Buffer } {
    const known = this.#files.get(file);
    const length = known?.bytes.byteLength ?? 0;
    if (known === undefined || bytes[length] !== COMMA || !bytes.subarray(0, length).equals(known.bytes))
      return { messages: [], more: bytes };
    return { messages: known.messages, more: bytes.subarray(length + 1) };
  }

  /** Nobody may change `bytes` afterwards, or the messages. */
  keep(file: object, bytes: Buffer, messages: readonly WireMessage[]): void {
    this.forget(file);
    this.#files.set(file, { bytes, messages });
    this.#bytes += bytes.byteLength;
    for (const [oldest] of this.#files) {
      if (this.#bytes <= MAX_BYTES) return;
      this.forget(oldest);
    }
  }

  forget(file: object): void {
    this.#bytes -= this.#files.get(file)?.bytes.byteLength ?? 0;
    this.#files.delete(file);
  }
}
