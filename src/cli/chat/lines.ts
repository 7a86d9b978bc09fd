import type { Input } from "../terminal/streams.ts";

/** The lines of stdin; a writer that is faster than the answers is held back. */
export async function* linesOf(input: Input): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [text, hasEnded, wake] = ["", false, () => {}];
  const take = (chunk: Buffer): void => {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n")) input.pause();
    wake();
  };
  const end = (): void => {
    hasEnded = true;
    wake();
  };
  input.on("data", take);
  input.on("end", end);
  input.on("error", end);
  input.resume();
  try {
    for (;;) {
      const at = text.indexOf("\n");
      if (at >= 0) {
        const line = text.slice(0, at);
        text = text.slice(at + 1);
        yield line.replace(/\r$/, "");
        if (!text.includes("\n") && !hasEnded) input.resume();
        continue;
      }
      if (hasEnded) break;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (text !== "") yield text;
  } finally {
    input.off("data", take);
    input.off("end", end);
    input.off("error", end);
    input.pause();
  }
}
