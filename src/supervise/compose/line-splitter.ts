/** Bytes as they come, as lines. A line that grows too long is told in pieces, so that one without an end fills no memory. */
import { LIMITS } from "../../kernel/limits.ts";

export class LineSplitter {
  readonly #onLines: (lines: readonly string[]) => void;
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** `onLines`: those that came together, at least one. */
  constructor(onLines: (lines: readonly string[]) => void) {
    this.#onLines = onLines;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  /** What has no end yet is a line. */
  flush(): void {
    this.#take(this.#decoder.decode());
    if (this.#rest !== "") this.#onLines([withoutReturn(this.#rest)]);
    this.#rest = "";
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    const rest = [...pieces(lines.pop() ?? "")];
    this.#rest = rest.pop() ?? "";
    const whole = [...lines.flatMap(linePieces), ...rest];
    if (whole.length > 0) this.#onLines(whole);
  }
}

/** The lines of a text that is whole. */
export function linesOf(text: string): string[] {
  return text.split("\n").flatMap(linePieces);
}

/** Most lines are short, and there may be many: those cost nothing here. */
function linePieces(line: string): string | string[] {
  const text = withoutReturn(line);
  return text.length <= LIMITS.lineChars ? text : [...pieces(text)];
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function* pieces(line: string): Generator<string> {
  yield line.slice(0, LIMITS.lineChars);
  for (let at = LIMITS.lineChars; at < line.length; at += LIMITS.lineChars)
    yield line.slice(at, at + LIMITS.lineChars);
}
