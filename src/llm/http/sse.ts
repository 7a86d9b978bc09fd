/** Reads the server-sent events of a response body (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { LlmError } from "../../abi/llm-error.ts";
import type { Body } from "./client.ts";

/** The longest line, and the most data of one event; beyond that the error is `stream_malformed`. */
export const MAX_SSE_CHARS = 1024 * 1024;
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** How long to wait for the end of a body after its last event. */
const REST_MS = 100;

/**
 * The `data` of each event, in order. Comments, ids and names are ignored: both dialects repeat the name in the data.
 * An event without its blank line was cut off and is dropped. However the iteration ends, the body is closed.
 */
export async function* readSse(body: Body): AsyncGenerator<string> {
  const lines = new LineReader();
  let data: string[] = [];
  let size = 0;
  try {
    for (let step = await body.next(); step.done !== true; step = await body.next())
      for (const line of lines.add(step.value)) {
        if (line === "") {
          if (data.length > 0) yield data.length === 1 ? (data[0] as string) : data.join("\n");
          data = [];
          size = 0;
        } else if (line.startsWith("data:")) {
          size += line.length;
          if (size > MAX_SSE_CHARS) throw tooLong();
          data.push(line.startsWith("data: ") ? line.slice(6) : line.slice(5));
        }
      }
  } finally {
    body.close();
  }
}

/** The lines of a body, each a JSON text (https://github.com/ndjson/ndjson-spec). However the iteration ends, the body is closed. */
export async function* readLines(body: Body): AsyncGenerator<string> {
  const lines = new LineReader();
  try {
    for (let step = await body.next(); step.done !== true; step = await body.next())
      for (const line of lines.add(step.value)) if (line !== "") yield line;
  } finally {
    body.close();
  }
}

/** A body that is not a stream. Beyond 16 MiB the error is `stream_malformed`. It is closed when this returns or throws. */
export async function readText(body: Body): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for (let step = await body.next(); step.done !== true; step = await body.next()) {
      chunks.push(step.value);
      bytes += step.value.byteLength;
      if (bytes > MAX_TEXT_BYTES) throw tooLong();
    }
  } finally {
    body.close();
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Reads to the end of a body after its last event: a connection with unread data cannot serve another request. */
export async function readRest(body: Body): Promise<void> {
  const late = Promise.withResolvers<{ readonly done: true }>();
  const timer = setTimeout(() => late.resolve({ done: true }), REST_MS);
  try {
    for (let isOver = false; !isOver; )
      isOver = (await Promise.race([body.next(), late.promise])).done === true;
  } catch {
    // the reply was complete; its connection was cut and is not reused
  } finally {
    clearTimeout(timer);
  }
}

/** Cuts a stream of bytes into lines. Line ends are LF, CRLF or CR; a last line without a line end is dropped. */
class LineReader {
  readonly #decoder = new TextDecoder();
  #begun: string[] = [];
  #size = 0;
  #isAfterCr = false;

  /** The lines that these bytes complete. Throws `stream_malformed` for a line without end. */
  add(bytes: Uint8Array): string[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    const lines: string[] = [];
    let from = this.#isAfterCr && text.startsWith("\n") ? 1 : 0;
    this.#isAfterCr = text.endsWith("\r");
    const ends = /\r\n|\n|\r/g;
    ends.lastIndex = from;
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      const rest = text.slice(from, end.index);
      lines.push(this.#begun.length === 0 ? rest : [...this.#begun, rest].join(""));
      this.#begun = [];
      this.#size = 0;
      from = ends.lastIndex;
    }
    if (from < text.length) this.#begun.push(text.slice(from));
    this.#size += text.length - from;
    if (this.#size > MAX_SSE_CHARS) throw tooLong();
    return lines;
  }
}

function tooLong(): LlmError {
  return new LlmError({
    kind: "stream_malformed",
    message: `a line of the reply is over ${MAX_SSE_CHARS} characters`,
  });
}
