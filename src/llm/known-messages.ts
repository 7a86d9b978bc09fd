/**
 * Caches recent requests by their bytes: a conversation grows at its end, and what surrounds its messages stays, except
 * for the id. So only the new end of the next request is parsed and checked. Whatever the bytes, the result is the same
 * as parsing all of them at once.
 */
import { hash, randomUUID } from "node:crypto";
import type { WireMessage } from "../abi/llm.ts";
import { bytesOf, continued, NOTHING, type Written } from "../lib/grow/grown-bytes.ts";
import { RecentMap } from "../lib/maps/recent-map.ts";
import type { AttemptRequest } from "./driver.ts";

/**
 * Most bytes of all requests together, with what surrounds their messages; the least recently used are dropped first. In
 * memory each byte of a message costs about three.
 */
const MAX_BYTES = 8 * 1024 * 1024;
/** Surroundings that files share: those of forks are the same. The last used ones. */
const MAX_SHARED = 16;
/** The text around the messages. The opening cannot occur in a JSON string, where its quotes would be escaped. */
const OPENING = Buffer.from(',"messages":[');
const CLOSING = Buffer.from('],"maxOutputTokens":');
const COMMA = 0x2c;
/** The beginning of a request whose id comes first, and how much of it may be the id. */
const ID = /^\{"requestId":"([\w.-]{1,64})",/;
const ID_BYTES = 100;
/** Replaces the messages while the rest is parsed. Random, so that no request can contain it. */
const STAND_IN = randomUUID();

/** What surrounds the messages of a request, parsed and checked; its id is any. */
export type Frame = Omit<AttemptRequest, "requestId" | "messages">;

interface Known {
  /** The bytes between the brackets. */
  readonly bytes: Written;
  readonly messages: readonly WireMessage[];
  /** The bytes of the whole request. */
  readonly size: number;
  readonly around?: Around | undefined;
}

/** What surrounds the messages, read from bytes of which only the digest is kept: they are longer than most conversations. */
interface Around {
  readonly digest: string;
  readonly frame: Frame;
}

export interface RequestParts {
  /** undefined: the id is not first, or it could be given twice. */
  readonly id: string | undefined;
  /** The bytes up to the messages, without the id, and from their closing bracket on. */
  readonly before: Buffer;
  readonly after: Buffer;
  /** The bytes between the brackets of the messages. */
  readonly messages: Buffer;
  /** The digest of `before` and `after`. */
  digest(): string;
  /** The request with a stand-in for its messages. */
  rest(): Buffer;
}

/** Splits a request at its messages. undefined: the request is written in another form. */
export function requestParts(data: Uint8Array): RequestParts | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const from = bytes.indexOf(OPENING) + OPENING.byteLength;
  const to = bytes.lastIndexOf(CLOSING);
  if (from < OPENING.byteLength || to < from) return undefined;
  const [opening, id] = ID.exec(bytes.toString("latin1", 0, Math.min(ID_BYTES, from))) ?? [""];
  const [head, after] = [bytes.subarray(0, from), bytes.subarray(to)];
  const before = bytes.subarray(opening.length, from);
  let digest: string | undefined;
  return {
    id,
    before,
    after,
    digest: () => (digest ??= digestOf(before) + digestOf(after)),
    messages: bytes.subarray(from, to),
    rest: () => Buffer.concat([head, Buffer.from(`"${STAND_IN}"`), after]),
  };
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
  readonly #shared = new RecentMap<string, Around>(MAX_SHARED);

  /**
   * If `bytes` continues the last messages of `file`: those messages, and the bytes after them. Otherwise no messages,
   * and all bytes.
   */
  before(file: object, bytes: Buffer): { messages: readonly WireMessage[]; more: Buffer } {
    const known = this.#files.get(file);
    if (known === undefined || !continues(known, bytes)) return { messages: [], more: bytes };
    return { messages: known.messages, more: bytes.subarray(known.bytes.length + 1) };
  }

  /** What surrounds the messages, if the last request of `file` had the same around them, or a recent one of another. */
  frame(file: object, parts: RequestParts): Frame | undefined {
    return this.#around(file, parts)?.frame;
  }

  #around(file: object, { id, digest }: RequestParts): Around | undefined {
    if (id === undefined) return undefined;
    const own = this.#files.get(file)?.around;
    return own?.digest === digest() ? own : this.#shared.use(digest());
  }

  /** Stores the last request of `file`. What was made of its bytes must not be changed afterwards. */
  keep(file: object, parts: RequestParts, request: AttemptRequest): void {
    const { before, messages, after } = parts;
    const size = before.byteLength + messages.byteLength + after.byteLength;
    const around = this.#around(file, parts) ?? aroundOf(parts, request);
    if (around !== undefined) this.#shared.set(around.digest, around);
    const known = this.#files.get(file);
    const from = known !== undefined && continues(known, messages) ? known.bytes : NOTHING;
    // a copy: a part of the request's own buffer would hold all of it
    const bytes = continued(from, messages.subarray(from.length));
    this.#keep(file, { bytes, messages: request.messages, size, around });
  }

  #keep(file: object, known: Known): void {
    this.forget(file);
    this.#files.set(file, known);
    this.#bytes += known.size;
    for (const [oldest] of this.#files) {
      if (this.#bytes <= MAX_BYTES) return;
      this.forget(oldest);
    }
  }

  forget(file: object): void {
    this.#bytes -= this.#files.get(file)?.size ?? 0;
    this.#files.delete(file);
  }
}

/** undefined: the bytes without the id hold another one, which would be the one that counts. */
function aroundOf({ id, before, after, digest }: RequestParts, request: AttemptRequest): Around | undefined {
  if (id === undefined) return undefined;
  const rest: unknown = JSON.parse(`{${before.toString()}${after.toString()}`);
  if (typeof rest !== "object" || rest === null || "requestId" in rest) return undefined;
  const { requestId: _id, messages: _messages, ...frame } = request;
  return { digest: digest(), frame };
}

const digestOf = (bytes: Buffer): string => hash("sha256", bytes, "base64");

/** Whether the bytes are those known, a comma, and more. */
function continues({ bytes: known }: Known, bytes: Buffer): boolean {
  return bytes[known.length] === COMMA && bytes.subarray(0, known.length).equals(bytesOf(known));
}
