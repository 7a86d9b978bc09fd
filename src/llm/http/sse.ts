/** Reads the server-sent events of a response body (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { LlmError } from "../../abi/llm-error.ts";

/** The longest line, and the most data of one event; beyond that the error is `stream_malformed`. */
export const MAX_SSE_CHARS = 1024 * 1024;
/** How long to wait for the end of a body after its last event. */
const REST_MS = 100;

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * The `data` of each event, in order. Comments, ids and names are ignored: both dialects repeat the name in the data.
 * However the iteration ends, the body is cancelled and the reader released.
 */
export async function* readSse(reader: BodyReader): AsyncGenerator<string> {
  let data: string[] = [];
  let size = 0;
  for await (const line of readLines(reader)) {
    if (line === "") {
      if (data.length > 0) yield data.join("\n");
      data = [];
      size = 0;
    } else if (line.startsWith("data:")) {
      size += line.length;
      if (size > MAX_SSE_CHARS) throw tooLong();
      data.push(line.startsWith("data: ") ? line.slice(6) : line.slice(5));
    }
  }
  // an event without its blank line was cut off and is dropped
}

/** Reads to the end of a body after its last event: a connection with unread data cannot serve another request. */
export async function readRest(reader: BodyReader): Promise<void> {
  const late = Promise.withResolvers<{ readonly done: boolean }>();
  const timer = setTimeout(() => late.resolve({ done: true }), REST_MS);
  try {
    for (let isOver = false; !isOver; ) isOver = (await Promise.race([reader.read(), late.promise])).done;
  } catch {
    // the reply was complete; its connection was cut and is not reused
  } finally {
    clearTimeout(timer);
  }
}

/** The lines of the body. Line ends are LF, CRLF or CR; a last line without a line end is dropped. */
async function* readLines(reader: BodyReader): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let size = 0;
  let afterCr = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      let from = afterCr && text.startsWith("\n") ? 1 : 0;
      if (text !== "") afterCr = text.endsWith("\r");
      const ends = /\r\n|\n|\r/g;
      ends.lastIndex = from;
      for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
        parts.push(text.slice(from, end.index));
        yield parts.join("");
        parts = [];
        size = 0;
        from = ends.lastIndex;
      }
      parts.push(text.slice(from));
      size += text.length - from;
      if (size > MAX_SSE_CHARS) throw tooLong();
    }
  } finally {
    await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}

function tooLong(): LlmError {
  return new LlmError({
    kind: "stream_malformed",
    message: `a line of the reply is over ${MAX_SSE_CHARS} characters`,
  });
}
