/**
 * Reads the payload of a frame: one MsgPack value, always a map. Structure, depth, number of entries, keys, integers and
 * UTF-8 are checked as they are read, and nothing is allocated for what a payload only announces.
 */
import { isUtf8 } from "node:buffer";
import { FRAME } from "../../abi/ipc.ts";

/** What is wrong with a payload, in words for the client. */
export class PackError extends Error {}

/** Short texts come again and again: keys, and names of methods and events. One of each hash is kept. */
const KNOWN_BYTES = 24;
const KNOWN = 512;
const knownBytes: (Buffer | undefined)[] = new Array(KNOWN).fill(undefined);
const knownTexts: string[] = new Array(KNOWN).fill("");

/** Fewer are copied: it costs nothing. */
const LARGE_BYTES = 16 * 1024;

/** The payload that is being read, and the position in it: reading is synchronous. */
let bytes: Buffer = Buffer.alloc(0);
let at = 0;

/** Throws a PackError: not one map of plain MsgPack within the bounds. Large bytes of the result stand in the payload's buffer. */
export function unpack(payload: Buffer): Readonly<Record<string, unknown>> {
  bytes = payload;
  at = 1;
  const first = payload[0] ?? 0;
  const isMap = (first & 0xf0) === 0x80 || first === 0xde || first === 0xdf;
  if (!isMap) throw new PackError("not a map");
  const map = readValue(first, 0) as Record<string, unknown>;
  if (at !== payload.length) throw new PackError("bytes after the end of the value");
  return map;
}

/** `depth`: how many containers it is in. */
function readValue(type: number, depth: number): unknown {
  if (type <= 0x7f) return type;
  if (type >= 0xe0) return type - 0x100;
  if (type <= 0x8f) return mapOf(type & 0x0f, depth);
  if (type <= 0x9f) return listOf(type & 0x0f, depth);
  if (type <= 0xbf) return textOf(type & 0x1f);
  return readLong(type, depth);
}

function readLong(type: number, depth: number): unknown {
  switch (type) {
    case 0xc0:
      return null;
    case 0xc1:
      throw new PackError("byte 0xc1");
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return bytesOf(lengthOf(type - 0xc4));
    case 0xd9:
    case 0xda:
    case 0xdb:
      return textOf(lengthOf(type - 0xd9));
    case 0xdc:
    case 0xdd:
      return listOf(lengthOf(type - 0xdb), depth);
    case 0xde:
    case 0xdf:
      return mapOf(lengthOf(type - 0xdd), depth);
    default:
      return numberOf(type);
  }
}

function numberOf(type: number): number {
  switch (type) {
    case 0xca:
      return bytes.readFloatBE(skip(4));
    case 0xcb:
      return bytes.readDoubleBE(skip(8));
    case 0xcc:
    case 0xcd:
    case 0xce:
      return lengthOf(type - 0xcc);
    case 0xd0:
      return bytes.readInt8(skip(1));
    case 0xd1:
      return bytes.readInt16BE(skip(2));
    case 0xd2:
      return bytes.readInt32BE(skip(4));
    case 0xcf:
      return wideOf(bytes.readUInt32BE(skip(4)));
    case 0xd3:
      return wideOf(bytes.readInt32BE(skip(4)));
    default:
      throw new PackError("extension types are not used here");
  }
}

/** An integer of 64 bits, by its upper half. */
function wideOf(high: number): number {
  const value = high * 0x1_0000_0000 + bytes.readUInt32BE(skip(4));
  if (!Number.isSafeInteger(value)) throw new PackError("an integer beyond ±(2^53 - 1)");
  return value;
}

/** An unsigned integer of 1, 2 or 4 bytes: `width` 0, 1, 2. */
function lengthOf(width: number): number {
  if (width === 0) return bytes[skip(1)] as number;
  return width === 1 ? bytes.readUInt16BE(skip(2)) : bytes.readUInt32BE(skip(4));
}

/** Where the next `count` bytes begin; they are there. */
function skip(count: number): number {
  const from = at;
  at += count;
  if (at > bytes.length) throw new PackError("the value is cut off");
  return from;
}

function listOf(count: number, depth: number): unknown[] {
  checkSize(count, depth);
  const list: unknown[] = [];
  for (let n = 0; n < count; n++) list.push(readValue(bytes[skip(1)] as number, depth + 1));
  return list;
}

function mapOf(count: number, depth: number): Record<string, unknown> {
  checkSize(count, depth);
  const map: Record<string, unknown> = {};
  for (let n = 0; n < count; n++) {
    const key = keyOf(bytes[skip(1)] as number);
    map[key] = readValue(bytes[skip(1)] as number, depth + 1);
  }
  return map;
}

function keyOf(type: number): string {
  const isShort = type >= 0xa0 && type <= 0xbf;
  if (!isShort && (type < 0xd9 || type > 0xdb)) throw new PackError("a key is not a string");
  const key = textOf(isShort ? type & 0x1f : lengthOf(type - 0xd9));
  // it would reach the prototype of an object
  if (key === "__proto__") throw new PackError("the key __proto__");
  return key;
}

function checkSize(count: number, depth: number): void {
  if (count > FRAME.maxEntries)
    throw new PackError(`more than ${FRAME.maxEntries} entries in a map or array`);
  if (depth >= FRAME.maxDepth) throw new PackError(`deeper than ${FRAME.maxDepth}`);
}

/** A copy, unless these are most of what they keep from being released. */
function bytesOf(length: number): Uint8Array {
  const from = skip(length);
  const { buffer, byteOffset } = bytes;
  if (length >= LARGE_BYTES && 2 * length >= buffer.byteLength)
    return new Uint8Array(buffer, byteOffset + from, length);
  return new Uint8Array(bytes.subarray(from, at));
}

function textOf(length: number): string {
  const from = skip(length);
  if (length === 0) return "";
  if (length > KNOWN_BYTES) return decoded(from);
  let hash = length;
  for (let n = from; n < at; n++) hash = (Math.imul(hash, 31) + (bytes[n] as number)) | 0;
  const slot = hash & (KNOWN - 1);
  if (isKnown(knownBytes[slot], from, length)) return knownTexts[slot] as string;
  const text = decoded(from);
  knownBytes[slot] = Buffer.from(bytes.subarray(from, at));
  knownTexts[slot] = text;
  return text;
}

function isKnown(known: Buffer | undefined, from: number, length: number): boolean {
  if (known?.length !== length) return false;
  for (let n = 0; n < length; n++) if (known[n] !== bytes[from + n]) return false;
  return true;
}

function decoded(from: number): string {
  const text = bytes.subarray(from, at);
  if (!isUtf8(text)) throw new PackError("a string is not UTF-8");
  return text.toString("utf8");
}
