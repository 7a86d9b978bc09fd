/** One line typed at a question, in raw mode. It is echoed as it will be sent, without control characters. */

import { plainLine } from "../screen/text/plain-text.ts";
import type { Keyboard } from "./keyboard.ts";

const MAX_CHARS = 4_000;
const ENTER = /[\r\n]/;
const BACKSPACE = /^[\x7f\b]$/;
/** Clears the line and puts the cursor at its start. */
export const CLEAR = "\r\x1b[K";

interface Typing {
  readonly keyboard: Keyboard;
  readonly write: (text: string) => Promise<void>;
}

interface Line {
  readonly prompt: string;
  readonly initial: string;
  /** A secret: a dot stands for each character. */
  readonly isHidden?: boolean;
}

/** undefined: Esc or Ctrl-D, or the question was closed. An empty line is an answer. */
export async function enterLine(
  { keyboard, write }: Typing,
  { prompt, initial, isHidden = false }: Line,
  signal: AbortSignal,
): Promise<string | undefined> {
  let line = initial;
  const shown = (): string => (isHidden ? "•".repeat([...line].length) : plainLine(line));
  await write(`${prompt}${shown()}`);
  for (;;) {
    const keys = await keyboard.next(signal);
    if (keys === undefined || keys === "\x1b" || keys === "\x04") {
      await write("\n");
      return undefined;
    }
    const isOver = ENTER.test(keys);
    line = edited(line, keys);
    await write(`${CLEAR}${prompt}${shown()}`);
    if (!isOver) continue;
    await write("\n");
    return line;
  }
}

/** Keys without a meaning here, such as arrows, change nothing. */
function edited(line: string, keys: string): string {
  if (BACKSPACE.test(keys)) return [...line].slice(0, -1).join("");
  if (keys === "\x15") return "";
  if (keys.startsWith("\x1b")) return line;
  const [text = ""] = keys.split(ENTER);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
  const typed = `${line}${text.replace(/[\x00-\x1f\x7f]/g, "")}`;
  // the initial text is never cut
  return typed.slice(0, Math.max(MAX_CHARS, line.length));
}
