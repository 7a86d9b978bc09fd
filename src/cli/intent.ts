import type { Args } from "./args.ts";
import type { Input } from "./host.ts";
import { invalid } from "./screen/errors.ts";

/** A stdin that says nothing for this long is no intent: whoever started us left it open and forgot it. */
const FIRST_BYTE_MS = 3000;
/** Below the longest line of the wire, 10 MiB, with room for what JSON escapes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The words, else what comes in on stdin; undefined when there is neither. Blank ones are INVALID. */
export async function findIntent(args: Args, stdin: Input): Promise<string | undefined> {
  if (args.words.length > 0) return notBlank(args.words.join(" "));
  if (stdin.isTTY === true) return undefined;
  const bytes = await readToEnd(stdin);
  return bytes.length === 0 ? undefined : notBlank(bytes.toString("utf8").replace(/(?:\r?\n)+$/, ""));
}

function notBlank(intent: string): string {
  if (intent.trim() === "") throw invalid("the intent is empty");
  return intent;
}

async function readToEnd(stdin: Input): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = (): void => resolve(Buffer.concat(chunks));
  const patience = setTimeout(end, FIRST_BYTE_MS);
  const take = (chunk: Buffer): void => {
    clearTimeout(patience);
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) reject(invalid(`the intent on stdin is longer than ${MAX_BYTES} bytes`));
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
