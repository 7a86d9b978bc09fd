import type { Args } from "../args.ts";
import type { Console } from "../console.ts";
import type { Host } from "../host/host.ts";
import { invalid } from "../screen/errors.ts";
import { readStdin } from "../terminal/stdin.ts";
import type { Input } from "../terminal/streams.ts";
import { dataUse } from "./stdio.ts";

/** Below the longest line of the wire, 10 MiB, which leaves room for JSON escapes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The words, else the text on stdin; undefined without either. Blank ones are INVALID. */
export async function findIntent(args: Args, stdin: Input): Promise<string | undefined> {
  if (args.words.length > 0) return notBlank(args.words.join(" "));
  if (stdin.isTTY === true) return undefined;
  const bytes = await readStdin(stdin, {
    maxBytes: MAX_BYTES,
    what: "the intent on stdin",
    onSilence: () => true,
  });
  return bytes.length === 0 ? undefined : notBlank(bytes.toString("utf8").replace(/(?:\r?\n)+$/, ""));
}

/** The data on stdin beside an intent in words, byte for byte; undefined: no data. */
export async function findData(
  host: Pick<Host, "stdin" | "stdinKind">,
  console: Console,
): Promise<Buffer | undefined> {
  const use = dataUse(host.stdinKind);
  if (use === "not_at_all") return undefined;
  const bytes = await readStdin(host.stdin, {
    maxBytes: MAX_BYTES,
    what: "the data on stdin",
    hint: "put it into a file, and name the file in the intent",
    onSilence: () => {
      if (use === "if_it_speaks") return true;
      if (console.mode !== "quiet")
        void console.errorLine("[crux] waiting for the end of stdin (< /dev/null runs without it)");
      return false;
    },
  });
  return bytes.length === 0 ? undefined : bytes;
}

function notBlank(intent: string): string {
  if (intent.trim() === "") throw invalid("the intent is empty", 'crux "explain this folder"');
  return intent;
}
