/** fetch() for a remote server: what it answers is read within the bounds of a message, and is never a redirect elsewhere. */
import { MCP_LIMITS } from "./limits.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Fails the body of a response whose message, or whose event in a stream of events, is too long. */
export function boundedFetch(fetchImpl: Fetch = fetch): Fetch {
  return async (url, init) => {
    const response = await fetchImpl(url, init);
    if (response.body === null) return response;
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    const body = response.body.pipeThrough(boundedBytes(isStream));
    const { status, statusText, headers } = response;
    const bounded = new Response(body, { status, statusText, headers });
    // the library looks where a redirect led
    Object.defineProperty(bounded, "url", { value: response.url });
    Object.defineProperty(bounded, "redirected", { value: response.redirected });
    Object.defineProperty(bounded, "type", { value: response.type });
    return bounded;
  };
}

/** An event ends at an empty line. */
function boundedBytes(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let isLineStart = false;
  return new TransformStream({
    transform(chunk, controller) {
      if (isStream) ({ bytes, isLineStart } = sinceEvent(chunk, bytes, isLineStart));
      else bytes += chunk.byteLength;
      if (bytes > MCP_LIMITS.messageBytes)
        controller.error(new Error(`it sent a message of more than ${MCP_LIMITS.messageBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}

/** Bytes since the last empty line, and whether the last byte ended a line. */
function sinceEvent(chunk: Uint8Array, before: number, wasLineStart: boolean) {
  let bytes = before;
  let isLineStart = wasLineStart;
  for (const byte of chunk) {
    if (byte === 0x0a) {
      bytes = isLineStart ? 0 : bytes + 1;
      isLineStart = true;
    } else if (byte !== 0x0d) {
      bytes++;
      isLineStart = false;
    }
  }
  return { bytes, isLineStart };
}
