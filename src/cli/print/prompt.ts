/** The prompt of `crux -p`: the words, and what stands on stdin. */
import type { Host } from "../host/host.ts";
import { invalid } from "../screen/errors.ts";
import { readStdin } from "../terminal/stdin.ts";

/** Below the longest line of the wire, which leaves room for JSON escapes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Joined by a newline. Nothing on stdin for 3 s counts as nothing. INVALID: both are empty. */
export async function findPrompt(
  words: string,
  { stdin, stdinKind }: Pick<Host, "stdin" | "stdinKind">,
): Promise<string> {
  const data = stdin.isTTY === true || stdinKind === "none" ? "" : await dataOf(stdin);
  const prompt = [words, data].filter((text) => text.trim() !== "").join("\n");
  if (prompt !== "") return prompt;
  throw invalid("there is no prompt: neither in words nor on stdin", 'crux -p "explain this folder"');
}

async function dataOf(stdin: Host["stdin"]): Promise<string> {
  const bytes = await readStdin(stdin, {
    maxBytes: MAX_BYTES,
    what: "stdin",
    hint: "put it into a file, and name the file in the prompt",
    onSilence: () => true,
  });
  return bytes.toString("utf8").replace(/(?:\r?\n)+$/, "");
}
