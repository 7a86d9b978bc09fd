/**
 * How the text of a file is encoded. Every text file decodes to a string that encodes to the same bytes again, so that
 * an edit changes nothing else.
 */
import { isUtf8 } from "node:buffer";

/**
 * UTF-16 has a byte-order mark, which is part of the text. In bytes that are mostly UTF-8, invalid ones become lone low
 * surrogates (U+DC80 to U+DCFF, as in PEP 383); any other bytes are read as Windows-1252, which includes Latin-1.
 */
export type Encoding = "UTF-8" | "damaged UTF-8" | "UTF-16LE" | "UTF-16BE" | "Windows-1252";

export interface EncodedText {
  readonly text: string;
  readonly encoding: Encoding;
}

/** Bytes 0x80 to 0x9f; the five unassigned ones map to themselves (WHATWG Encoding). */
const HIGH = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";
const HIGH_BYTES = new Map([...HIGH].map((character, at) => [character, 0x80 + at]));
/** Lone surrogates only: with the `u` flag, half of a pair does not match. */
const BROKEN = /([\udc80-\udcff])/u;

export function decodeText(bytes: Buffer): EncodedText {
  const order = utf16Of(bytes);
  if (order === "UTF-16LE") return { text: bytes.toString("utf16le"), encoding: order };
  if (order === "UTF-16BE") return { text: swapped(bytes).toString("utf16le"), encoding: order };
  if (isUtf8(bytes)) return { text: bytes.toString("utf8"), encoding: "UTF-8" };
  return damagedUtf8(bytes) ?? { text: windows1252(bytes), encoding: "Windows-1252" };
}

/** A file with an odd number of bytes is not read as UTF-16: its last byte would be lost. */
export function utf16Of(bytes: Uint8Array): "UTF-16LE" | "UTF-16BE" | undefined {
  if (bytes.byteLength % 2 !== 0) return undefined;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "UTF-16LE";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "UTF-16BE" : undefined;
}

/** The bytes; or the first character that the encoding cannot represent. */
export function encodeText(text: string, encoding: Encoding): Buffer | { readonly unfit: string } {
  switch (encoding) {
    case "UTF-8":
      return Buffer.from(text);
    case "damaged UTF-8":
      return Buffer.concat(
        text.split(BROKEN).map((part, at) => (at % 2 === 0 ? Buffer.from(part) : brokenByte(part))),
      );
    case "UTF-16LE":
      return Buffer.from(text, "utf16le");
    case "UTF-16BE":
      return swapped(Buffer.from(text, "utf16le"));
    case "Windows-1252":
      return bytes1252(text);
  }
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes).swap16();
}

/** undefined: more of it is invalid than valid. */
function damagedUtf8(bytes: Buffer): EncodedText | undefined {
  const parts: string[] = [];
  let [begun, whole, broken] = [0, 0, 0];
  for (let at = 0; at < bytes.length; ) {
    const length = lengthOf(bytes[at] ?? 0);
    if (length === 1 || (length > 0 && isUtf8(bytes.subarray(at, at + length)))) {
      if (length > 1) whole++;
      at += length;
      continue;
    }
    parts.push(bytes.toString("utf8", begun, at), String.fromCharCode(0xdc00 + (bytes[at] ?? 0)));
    broken++;
    begun = ++at;
  }
  if (broken > whole) return undefined;
  return { text: parts.join("") + bytes.toString("utf8", begun), encoding: "damaged UTF-8" };
}

/** The length of a character that begins with this byte; 0: not a valid first byte. */
function lengthOf(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

function brokenByte(part: string): Buffer {
  return Buffer.of(part.charCodeAt(0) - 0xdc00);
}

function windows1252(bytes: Buffer): string {
  return bytes.toString("latin1").replace(/[\x80-\x9f]/g, (byte) => HIGH[byte.charCodeAt(0) - 0x80] ?? byte);
}

function bytes1252(text: string): Buffer | { readonly unfit: string } {
  const bytes = Buffer.alloc(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const byte = code < 0x80 || (code >= 0xa0 && code <= 0xff) ? code : HIGH_BYTES.get(text[at] ?? "");
    if (byte === undefined) return { unfit: String.fromCodePoint(text.codePointAt(at) ?? 0) };
    bytes[at] = byte;
  }
  return bytes;
}
