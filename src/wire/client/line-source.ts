import type { Socket } from "node:net";
import { LineDecoder } from "../codec/ndjson.ts";

/** More than the wire allows, so that the daemon's limit applies first, but still bounded. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * The lines of a connection. Reads only when the consumer asks, so that a slow screen fills the daemon's queue and not
 * this memory. Ends with the connection, for whatever reason.
 */
export async function* readLines(socket: Socket): AsyncGenerator<Buffer, void, void> {
  const decoder = new LineDecoder(MAX_LINE_BYTES);
  try {
    for await (const chunk of socket) {
      for (const item of decoder.push(chunk as Buffer)) {
        if (item.kind === "too_long") return;
        yield item.line;
      }
    }
  } catch {
    // reset, or closed by us: both are the end
  } finally {
    socket.destroy();
  }
}
