/**
 * Caches the messages of recent requests by their bytes: a conversation grows at its end, so only the new end of the
 * next request is parsed and checked. Whatever the bytes, the result is the same as parsing all of them at once.
 */
import { randomUUID } from "node:crypto";
import type { WireMessage } from "../abi/llm.ts";

/**
 * Most bytes of all files together; the least recently used are dropped first. In memory each byte costs about three.
 */
const MAX_BYTES = 8 * 1024 * 1024;
/** The text around the messages. The opening cannot occur in a JSON string, where its quotes would be escaped. */
const OPENING = Buffer.from(',"messages":[');
const CLOSING = Buffer.from('],"maxOutputTokens":');
const COMMA = 0x2c;
/** Replaces the messages while the rest is parsed. Random, so that no request can contain it. */
const STAND_IN = randomUUID();

interface Known {
  /** The bytes between the brackets. */
  readonly bytes: Buffer;
  readonly messages: readonly WireMessage[];
}

interface RequestParts {
  /** The request with a stand-in for its messages. */
  readonly rest: Buffer;
  /** The bytes between the brackets of the messages. */
  readonly messages: Buffer;
}

/** Splits a request at its messages. undefined: the request is written in another form. */
export function requestParts(data: Uint8Array): RequestParts | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const from = bytes.indexOf(OPENING) + OPENING.byteLength;
  const to = bytes.lastIndexOf(CLOSING);
  if (from < OPENING.byteLength || to < from) return undefined;
  const rest = [bytes.subarray(0, from), Buffer.from(`"${STAND_IN}"`), bytes.subarray(to)];
  return { rest: Buffer.concat(rest), messages: bytes.subarray(from, to) };
}

/** Whether the stand-in is the request's `messages`; otherwise the brackets belonged to something else. */
export function hasStandIn(rest: unknown): rest is object {
  if (typeof rest !== "object" || rest === null || !("messages" in rest)) return false;
  const { messages } = rest;
  return Array.isArray(messages) && messages.length === 1 && messages[0] === STAND_IN;
}

export class KnownMessages {
  /** The files in order of last use. */
  readonly #files = new Map<object, Known>();
  #bytes = 0;

  /**
   * If `bytes` continues the last messages of `file`: those messages, and the bytes after them. Otherwise no messages,
   * and all bytes.
   */
  before(file: object, bytes: Buffer): { messages: readonly WireMessage[]; more: Buffer } {
    const known = this.#files.get(file);
    const length = known?.bytes.byteLength ?? 0;
    if (known === undefined || bytes[length] !== COMMA || !bytes.subarray(0, length).equals(known.bytes))
      return { messages: [], more: bytes };
    return { messages: known.messages, more: bytes.subarray(length + 1) };
  }

  /** Stores the messages of `file`. `bytes` and `messages` must not be changed afterwards. */
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
