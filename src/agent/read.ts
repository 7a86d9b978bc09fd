/** Reading a whole reply, as lines, from a file. */
import type { Fd } from "../abi/ids.ts";
import type { Sys } from "../abi/sys.ts";

/**
 * One read, and more only if it was full or the reply is not over yet: a short reply is one read in the trace.
 * `isLast` is asked about the last line so far.
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
