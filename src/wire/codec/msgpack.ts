/**
 * The payloads of the binary wire: one MsgPack value, always a map. `check` walks over the bytes before the library
 * sees them, without allocating anything: structure, depth, number of entries, keys, integers, UTF-8 and the end. So
 * what a hostile client announces costs nothing, and what the library does with a rare type does not matter.
 */
import { isUtf8 } from "node:buffer";
import { decode, Encoder } from "@msgpack/msgpack";
import { FRAME, type Packet } from "../../abi/ipc.ts";
import { encodeFrame, writeHeader } from "./frame.ts";

/** What is wrong with a payload, in words for the client. */
export class PackError extends Error {}

const encoder = new Encoder({ ignoreUndefined: true, maxDepth: FRAME.maxDepth + 1 });

/** Keys with the value undefined are left out; typed arrays become `bin`. Throws for what MsgPack has no form for. */
export function packFrame(type: Packet, message: object): Buffer {
  return encodeFrame(type, encoder.encodeSharedRef(message));
}

const NONE = new Uint8Array(0);

/** The beginning of a frame whose last entry is `data`: these bytes follow it as they are. */
export function packBefore(type: Packet, message: object, data: Uint8Array): Buffer {
  // it ends with `c4 00`, a `bin` without bytes, which gets the real length
  const bare = encoder.encodeSharedRef({ ...message, data: NONE });
  const frame = Buffer.allocUnsafe(FRAME.headerBytes + bare.byteLength + 3);
  frame.set(bare, FRAME.headerBytes);
  frame[frame.length - 5] = 0xc6;
  frame.writeUInt32BE(data.byteLength, frame.length - 4);
  writeHeader(frame, type, frame.length - FRAME.headerBytes + data.byteLength);
  return frame;
}

/** Throws a PackError: not one map of plain MsgPack within the bounds. The bytes of the result are copies. */
export function unpack(payload: Buffer): Readonly<Record<string, unknown>> {
  new Scan(payload).check();
  return decode(payload, { rawStrings: false }) as Record<string, unknown>;
}

/** Containers that are not complete: how many values each still needs, and whether the next of a map is a key. */
interface Open {
  left: number;
  readonly isMap: boolean;
}

class Scan {
  readonly #bytes: Buffer;
  readonly #open: Open[] = [];
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  check(): void {
    const first = this.#bytes[0] ?? 0;
    if ((first & 0xf0) !== 0x80 && first !== 0xde && first !== 0xdf) throw new PackError("not a map");
    do {
      this.#value();
      this.#close();
    } while (this.#open.length > 0);
    if (this.#at !== this.#bytes.length) throw new PackError("bytes after the end of the value");
  }

  #close(): void {
    for (let top = this.#open.at(-1); top !== undefined && top.left === 0; top = this.#open.at(-1))
      this.#open.pop();
  }

  /** One value, without the entries of a container. */
  #value(): void {
    const top = this.#open.at(-1);
    const isKey = top?.isMap === true && top.left % 2 === 0;
    if (top !== undefined) top.left--;
    const type = this.#take(1);
    if (isKey && !isText(type)) throw new PackError("a key is not a string");
    if (type <= 0x7f || type >= 0xe0) return;
    if (type <= 0x8f) this.#enter((type & 0x0f) * 2, true);
    else if (type <= 0x9f) this.#enter(type & 0x0f, false);
    else if (type <= 0xbf) this.#text(type & 0x1f, isKey);
    else this.#typed(type, isKey);
  }

  #typed(type: number, isKey: boolean): void {
    if (type === 0xc0 || type === 0xc2 || type === 0xc3) return;
    if (type === 0xc1) throw new PackError("byte 0xc1");
    if (type >= 0xc4 && type <= 0xc6) this.#skip(this.#take(1 << (type - 0xc4)));
    else if (type === 0xca) this.#skip(4);
    else if (type === 0xcb) this.#skip(8);
    else if (type >= 0xcc && type <= 0xce) this.#skip(1 << (type - 0xcc));
    else if (type === 0xcf) this.#wide(this.#take(4));
    else if (type >= 0xd0 && type <= 0xd2) this.#skip(1 << (type - 0xd0));
    else if (type === 0xd3) this.#signed(this.#take(4));
    else if (type >= 0xd9 && type <= 0xdb) this.#text(this.#take(1 << (type - 0xd9)), isKey);
    else if (type === 0xdc || type === 0xdd) this.#enter(this.#take(type === 0xdc ? 2 : 4), false);
    else if (type === 0xde || type === 0xdf) this.#enter(this.#take(type === 0xde ? 2 : 4) * 2, true);
    else throw new PackError("extension types are not used here");
  }

  #enter(values: number, isMap: boolean): void {
    if (values > FRAME.maxEntries * (isMap ? 2 : 1))
      throw new PackError(`more than ${FRAME.maxEntries} entries in a map or array`);
    if (this.#open.length >= FRAME.maxDepth) throw new PackError(`deeper than ${FRAME.maxDepth}`);
    this.#open.push({ left: values, isMap });
  }

  #text(length: number, isKey: boolean): void {
    const from = this.#at;
    this.#skip(length);
    const text = this.#bytes.subarray(from, this.#at);
    if (!isUtf8(text)) throw new PackError("a string is not UTF-8");
    // the library refuses it: it would reach the prototype of an object
    if (isKey && length === 9 && text.equals(PROTO)) throw new PackError("the key __proto__");
  }

  /** The upper half of an unsigned integer of 64 bits. */
  #wide(high: number): void {
    this.#skip(4);
    if (high >= 0x200000) throw tooWide();
  }

  /** The upper half of a signed integer of 64 bits. */
  #signed(high: number): void {
    const low = this.#take(4);
    if (high < 0x200000) return;
    // from -(2^53 - 1) up: the upper half is -2^21, and the lower is not 0
    if (high < 0xffe00000 || (high === 0xffe00000 && low === 0)) throw tooWide();
  }

  #take(bytes: number): number {
    this.#skip(bytes);
    return bytes === 1 ? (this.#bytes[this.#at - 1] ?? 0) : this.#bytes.readUIntBE(this.#at - bytes, bytes);
  }

  #skip(bytes: number): void {
    this.#at += bytes;
    if (this.#at > this.#bytes.length) throw new PackError("the value is cut off");
  }
}

const PROTO = Buffer.from("__proto__");

const tooWide = (): PackError => new PackError("an integer beyond ±(2^53 - 1)");

function isText(type: number): boolean {
  return (type >= 0xa0 && type <= 0xbf) || (type >= 0xd9 && type <= 0xdb);
}
