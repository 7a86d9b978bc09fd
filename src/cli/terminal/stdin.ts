import { invalid } from "../screen/errors.ts";
import type { Input } from "./streams.ts";

/** After this long without a byte, the parent may have left stdin open by accident, in ms. */
const SILENT_MS = 3000;

interface ReadOptions {
  readonly maxBytes: number;
  /** Names the input in the error: `the intent on stdin`. */
  readonly what: string;
  readonly hint?: string;
  /** No byte came for 3 s. True: stop reading. */
  onSilence(): boolean;
}

/** Reads stdin to its end. INVALID: more than `maxBytes`. */
export async function readStdin(stdin: Input, options: ReadOptions): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = (): void => resolve(Buffer.concat(chunks));
  const patience = setTimeout(() => {
    if (options.onSilence()) end();
  }, SILENT_MS);
  const take = (chunk: Buffer): void => {
    clearTimeout(patience);
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > options.maxBytes)
      reject(invalid(`${options.what} is longer than ${options.maxBytes} bytes`, options.hint));
  };
  stdin.on("data", take);
  stdin.on("end", end);
  stdin.on("error", end);
  stdin.resume();
  try {
    return await promise;
  } finally {
    clearTimeout(patience);
    stdin.off("data", take);
    stdin.off("end", end);
    stdin.off("error", end);
    stdin.pause();
  }
}
