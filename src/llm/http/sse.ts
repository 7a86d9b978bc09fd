/** Reads the server-sent events of a response body (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { LlmError } from "../../abi/llm-error.ts";
import type { Body } from "./client.ts";

/** The longest line, and the most data of one event; beyond that the error is `stream_malformed`. */
export const MAX_SSE_CHARS = 1024 * 1024;
const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** How long to wait for the end of a body after its last event. */
const REST_MS = 100;

/** The most blank bytes at the beginning of a body. */
const MAX_BLANK = 1024;

/**
 * What a body is, by its first character that is not blank: a stream of events never begins with a brace, a bracket or
 * `<`. Some servers answer so whatever was asked for: with one complete answer, an error, a web page.
 */
export async function formOf(body: Body): Promise<{ readonly form: "events" | "json" | "page"; body: Body }> {
  const begun: IteratorResult<Uint8Array, unknown>[] = [];
  const replayed: Body = {
    next: () => {
      const step = begun.shift();
      return step === undefined ? body.next() : Promise.resolve(step);
    },
    close: () => body.close(),
  };
  for (let blank = 0; blank < MAX_BLANK; ) {
    const step = await body.next();
    begun.push(step);
    if (step.done === true) break;
    const first = step.value.find((byte) => !BLANK.has(byte));
    if (first === OPEN_TAG) return { form: "page", body: replayed };
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return { form: "json", body: replayed };
    if (first !== undefined) break;
    blank += step.value.byteLength;
  }
  return { form: "events", body: replayed };
}

/** Tab, line ends, blank, and the three bytes of a byte order mark. */
const BLANK: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf]);
const [OPEN_TAG, OPEN_BRACE, OPEN_BRACKET] = [0x3c, 0x7b, 0x5b];

/**
 * The `data` of each event, in order. Comments, ids and names are ignored: both dialects repeat the name in the data.
 * An event without its blank line was cut off and is dropped, but for a last one whose data are whole: some servers leave
 * out the line ends of their end. However the iteration ends, the body is closed.
 */
export async function* readSse(body: Body): AsyncGenerator<string> {
  const lines = new LineReader();
  let data: string[] = [];
  let size = 0;
  try {
    for (let step = await body.next(); step.done !== true; step = await body.next())
      for (const line of lines.add(step.value)) {
        if (line === "") {
          const text = data.length === 1 ? (data[0] as string) : data.join("\n");
          // some servers keep a connection open with events that say nothing
          if (text.trim() !== "") yield text;
          data = [];
          size = 0;
        } else if (line.startsWith("data:")) {
          size += line.length;
          if (size > MAX_SSE_CHARS) throw tooLong();
          data.push(dataOf(line));
        }
      }
    if (lines.rest.startsWith("data:")) data.push(dataOf(lines.rest));
    const last = data.join("\n");
    if (isWhole(last)) yield last;
  } finally {
    body.close();
  }
}

function dataOf(line: string): string {
  return line.startsWith("data: ") ? line.slice(6) : line.slice(5);
}

/** An object, which no longer text begins with, or the mark of the end of Chat Completions. */
function isWhole(data: string): boolean {
  if (!data.startsWith("{")) return data.trim() === "[DONE]";
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

/**
 * The lines of a body, each a JSON text (https://github.com/ndjson/ndjson-spec). The last one may lack its line end.
 * However the iteration ends, the body is closed.
 */
export async function* readLines(body: Body): AsyncGenerator<string> {
  const lines = new LineReader();
  try {
    for (let step = await body.next(); step.done !== true; step = await body.next())
      for (const line of lines.add(step.value)) if (line.trim() !== "") yield line;
    if (lines.rest.trim() !== "") yield lines.rest;
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

/** Cuts a stream of bytes into lines. Line ends are LF, CRLF or CR. */
class LineReader {
  readonly #decoder = new TextDecoder();
  #begun: string[] = [];
  #size = 0;
  #isAfterCr = false;

  /** The last line, if it has no line end. */
  get rest(): string {
    return this.#begun.join("");
  }

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
