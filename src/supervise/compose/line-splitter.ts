/**
 * Splits bytes into lines as they arrive. A line that is too long is passed on in pieces, so that memory stays bounded.
 */
import { LIMITS } from "../../kernel/limits.ts";

export class LineSplitter {
  readonly #onLines: (lines: readonly string[]) => void;
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** `onLines` gets the lines completed by one chunk, at least one. */
  constructor(onLines: (lines: readonly string[]) => void) {
    this.#onLines = onLines;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Passes on the unfinished rest as a line. */
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

/** The lines of a complete text. */
export function linesOf(text: string): string[] {
  return text.split("\n").flatMap(linePieces);
}

/** Returns a short line as it is, without an array: most lines are short, and there may be many. */
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
