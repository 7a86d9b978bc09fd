/** Bytes as they come, as lines. A line that grows too long is told in pieces, so that one without an end fills no memory. */
import { LIMITS } from "../limits.ts";

export class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  /** What has no end yet is a line. */
  flush(): void {
    this.#take(this.#decoder.decode());
    if (this.#rest !== "") this.#onLine(withoutReturn(this.#rest));
    this.#rest = "";
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    const rest = [...pieces(lines.pop() ?? "")];
    this.#rest = rest.pop() ?? "";
    for (const piece of [...lines.flatMap(linePieces), ...rest]) this.#onLine(piece);
  }
}

/** The lines of a text that is whole. */
export function linesOf(text: string): string[] {
  return text.split("\n").flatMap(linePieces);
}

function linePieces(line: string): string[] {
  return [...pieces(withoutReturn(line))];
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function* pieces(line: string): Generator<string> {
  yield line.slice(0, LIMITS.lineChars);
  for (let at = LIMITS.lineChars; at < line.length; at += LIMITS.lineChars)
    yield line.slice(at, at + LIMITS.lineChars);
}
