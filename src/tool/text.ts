/** The bytes of a file as text: its kind, its encoding, its lines. */
import { decodeText, type EncodedText, utf16Of } from "./encoding.ts";

export type Decoded = ({ kind: "text" } & EncodedText) | { kind: "binary" };

/** How many bytes are inspected to tell text from binary. */
const SNIFF_BYTES = 8 * 1024;

const BINARY_STARTS = ["%PDF-", "\x89PNG", "GIF8", "\xff\xd8\xff", "PK\x03\x04", "\x7fELF"];

/** Decides by content: a NUL near the start means binary, except in UTF-16 with a byte-order mark. */
export function decodeFile(bytes: Buffer): Decoded {
  if (utf16Of(bytes) === undefined) {
    const start = bytes.toString("latin1", 0, 8);
    if (BINARY_STARTS.some((magic) => start.startsWith(magic))) return { kind: "binary" };
    if (bytes.subarray(0, SNIFF_BYTES).includes(0)) return { kind: "binary" };
  }
  return { kind: "text", ...decodeText(bytes) };
}

/** Counts lines as an editor does: a final newline ends a line and starts no new one. */
export function countLines(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at = lineEnd(text, at);
  return count;
}

/** The end of the line that begins at `start`, its newline included. */
export function lineEnd(text: string, start: number): number {
  const newline = text.indexOf("\n", start);
  return newline === -1 ? text.length : newline + 1;
}

/** The first `max` UTF-16 units, one less if that would split a character. */
export function cutEnd(text: string, max: number): string {
  const cut = text.slice(0, max);
  return cut.length < text.length && isHighSurrogate(cut.charCodeAt(cut.length - 1)) ? cut.slice(0, -1) : cut;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
