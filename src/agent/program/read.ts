/** Reads a whole reply from a file, as lines. */
import type { Fd } from "../../abi/ids.ts";
import type { Sys } from "../../abi/sys.ts";

/**
 * Reads once, and again only if the buffer was filled or the reply is incomplete: a short reply is one read in the
 * trace. `isLast` is called with the last line so far.
 */
export async function readLines(
  sys: Sys,
  fd: Fd,
  length: number,
  isLast: (line: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for (;;) {
    const bytes = await sys.read(fd, length, signal);
    if (bytes.byteLength === 0) break;
    parts.push(decoder.decode(bytes, { stream: true }));
    if (bytes.byteLength < length && isLast(linesOf(parts).at(-1) ?? "")) break;
  }
  parts.push(decoder.decode());
  return linesOf(parts);
}

function linesOf(parts: readonly string[]): string[] {
  return parts
    .join("")
    .split("\n")
    .filter((line) => line.trim() !== "");
}
