import type { Socket } from "node:net";
import { LineDecoder } from "../codec/ndjson.ts";

/** More than the wire allows, so that it is the daemon's limit that counts, and still a bound. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * The lines of a connection. Reads no further than its reader asks, so that a slow screen holds up the daemon's queue
 * and not this memory. Ends with the connection, however that ends.
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
    // reset, or closed by us: the end as well
  } finally {
    socket.destroy();
  }
}
