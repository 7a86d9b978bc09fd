/**
 * Writes frames whose payload is one MsgPack value. Each is written once, behind the room for its header, into a buffer
 * that is used again.
 */
import { FRAME, type Packet } from "../../abi/ipc.ts";
import { writeHeader } from "./frame.ts";

/** A larger buffer is released after its frame. */
const KEEP_BYTES = 64 * 1024;
/** Texts up to this length are tried as ASCII, character by character: most are. */
const SHORT_CHARS = 64;
/** The most bytes of a scalar, type included. */
const SCALAR_BYTES = 9;

let out = Buffer.allocUnsafeSlow(KEEP_BYTES);
let at = 0;

/** Keys with the value undefined are left out; typed arrays become `bin`. Throws for what MsgPack has no form for. */
export function packFrame(type: Packet, message: object): Buffer {
  at = FRAME.headerBytes;
  put(message, 0);
  writeHeader(out, type, at - FRAME.headerBytes);
  return taken();
}

/**
 * The beginning of a frame whose last entry is `data`: so many bytes, which are put behind it as they are. It is written
 * to `into`; how long it is.
 */
export function packBefore(type: Packet, message: object, dataBytes: number, into: Buffer): number {
  at = FRAME.headerBytes;
  putMap(message, 0, 1);
  putText("data");
  putNumber(0xc6, dataBytes);
  writeHeader(out, type, at - FRAME.headerBytes + dataBytes);
  return out.copy(into, 0, 0, at);
}

function taken(): Buffer {
  const frame = Buffer.allocUnsafe(at);
  out.copy(frame, 0, 0, at);
  if (out.length > KEEP_BYTES) out = Buffer.allocUnsafeSlow(KEEP_BYTES);
  return frame;
}

/** Room for so many bytes more. */
function reserve(count: number): void {
  if (at + count <= out.length) return;
  const grown = Buffer.allocUnsafeSlow(Math.max(2 * out.length, at + count));
  out.copy(grown, 0, 0, at);
  out = grown;
}

function put(value: unknown, depth: number): void {
  if (typeof value === "string") putText(value);
  else if (typeof value === "number") putNumberOf(value);
  else if (typeof value === "boolean") putByte(value ? 0xc3 : 0xc2);
  else if (value === null || value === undefined) putByte(0xc0);
  else if (typeof value !== "object") throw new Error(`MsgPack has no form for a ${typeof value}`);
  else if (depth > FRAME.maxDepth) throw new Error(`deeper than ${FRAME.maxDepth}`);
  else if (Array.isArray(value)) putList(value, depth);
  else if (ArrayBuffer.isView(value)) putBytes(value);
  else putMap(value, depth, 0);
}

function putByte(byte: number): void {
  reserve(1);
  out[at++] = byte;
}

/** A type, and an unsigned integer of 4 bytes. */
function putNumber(type: number, value: number): void {
  reserve(5);
  out[at] = type;
  out.writeUInt32BE(value, at + 1);
  at += 5;
}

/** The type and size of what has a size: in the type itself below `small`, else with the types of 1, 2 and 4 bytes. */
function putSize(count: number, [fix, small, one, two]: readonly [number, number, number, number]): void {
  reserve(5);
  if (count < small) out[at++] = fix | count;
  else if (count < 0x100 && one > 0) {
    out[at] = one;
    out[at + 1] = count;
    at += 2;
  } else if (count < 0x1_0000) {
    out[at] = two;
    out.writeUInt16BE(count, at + 1);
    at += 3;
  } else putNumber(two + 1, count);
}

const TEXT = [0xa0, 32, 0xd9, 0xda] as const;
const BYTES = [0, 0, 0xc4, 0xc5] as const;
const LIST = [0x90, 16, 0, 0xdc] as const;
const MAP = [0x80, 16, 0, 0xde] as const;

function putText(text: string): void {
  const { length } = text;
  if (length <= SHORT_CHARS) {
    const from = at;
    reserve(length + 5);
    putSize(length, TEXT);
    let n = 0;
    for (; n < length; n++) {
      const code = text.charCodeAt(n);
      if (code > 0x7f) break;
      out[at + n] = code;
    }
    if (n === length) {
      at += length;
      return;
    }
    at = from;
  }
  const count = Buffer.byteLength(text);
  putSize(count, TEXT);
  reserve(count);
  at += out.write(text, at, count, "utf8");
}

function putBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): void {
  putSize(byteLength, BYTES);
  reserve(byteLength);
  out.set(new Uint8Array(buffer, byteOffset, byteLength), at);
  at += byteLength;
}

function putList(list: readonly unknown[], depth: number): void {
  putSize(list.length, LIST);
  for (const each of list) put(each, depth + 1);
}

/** `more`: entries that the caller adds. A map is a plain object, so that its prototype adds nothing. */
function putMap(map: object, depth: number, more: number): void {
  const entries = map as Readonly<Record<string, unknown>>;
  let count = more;
  for (const key in entries) if (entries[key] !== undefined) count++;
  putSize(count, MAP);
  for (const key in entries) {
    const value = entries[key];
    if (value === undefined) continue;
    putText(key);
    put(value, depth + 1);
  }
}

function putNumberOf(value: number): void {
  if (value >= 0 && value < 0x80 && Number.isInteger(value)) putByte(value);
  else if (!Number.isSafeInteger(value)) {
    reserve(SCALAR_BYTES);
    out[at] = 0xcb;
    out.writeDoubleBE(value, at + 1);
    at += 9;
  } else if (value >= 0) putPositive(value);
  else putNegative(value);
}

function putPositive(value: number): void {
  if (value <= 0xffff_ffff) putSize(value, [0, 0, 0xcc, 0xcd]);
  else putWide(0xcf, value);
}

function putNegative(value: number): void {
  reserve(SCALAR_BYTES);
  if (value >= -0x20) out[at++] = 0x100 + value;
  else if (value >= -0x80) {
    out[at] = 0xd0;
    at = out.writeInt8(value, at + 1);
  } else if (value >= -0x8000) {
    out[at] = 0xd1;
    at = out.writeInt16BE(value, at + 1);
  } else if (value >= -0x8000_0000) {
    out[at] = 0xd2;
    at = out.writeInt32BE(value, at + 1);
  } else putWide(0xd3, value);
}

function putWide(type: number, value: number): void {
  reserve(SCALAR_BYTES);
  out[at] = type;
  out.writeInt32BE(Math.floor(value / 0x1_0000_0000), at + 1);
  out.writeUInt32BE(value - Math.floor(value / 0x1_0000_0000) * 0x1_0000_0000, at + 5);
  at += 9;
}
