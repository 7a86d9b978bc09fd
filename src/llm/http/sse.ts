/** Server-sent events of a response body (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import { LlmError } from "../../abi/llm-error.ts";

/** Longest line, and most data of one event: beyond, `stream_malformed`. */
export const MAX_SSE_CHARS = 1024 * 1024;

/**
 * The `data` of each event, in order. Comments, ids and names are passed over: both dialects repeat the name in the
 * data. On every way out the body is cancelled and the reader released.
 */
export async function* readSse(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  let size = 0;
  for await (const line of readLines(body)) {
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
  // an event without its blank line was cut off, and is not one
}

/** Ends of line are LF, CRLF or CR. A last line without its end is dropped. */
async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
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
