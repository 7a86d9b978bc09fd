import { writeSync } from "node:fs";
import type { Output } from "../terminal/streams.ts";
import { streamKind } from "./stream-kind.ts";

export interface Streams {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Both of this process; `streams` gives Node's, once it handles their errors. */
export function quickStreams(streams: () => Streams): Streams {
  return {
    stdout: quickOutput(1, () => streams().stdout),
    stderr: quickOutput(2, () => streams().stderr),
  };
}

/**
 * An output for a few short lines: written to a pipe or a file directly, because Node takes milliseconds to make its
 * stream. `stream` gives that stream for a terminal, and for what could not be written at once; it reports the errors.
 */
export function quickOutput(fd: number, stream: () => Output): Output {
  if (streamKind(fd) === "device") return stream();
  return {
    write(text, done) {
      const bytes = typeof text === "string" ? Buffer.from(text) : text;
      const left = bytes.subarray(written(fd, bytes));
      if (left.byteLength > 0) return stream().write(left, done);
      done();
      return true;
    },
  };
}

function written(fd: number, bytes: Uint8Array): number {
  try {
    return writeSync(fd, bytes);
  } catch {
    return 0;
  }
}
