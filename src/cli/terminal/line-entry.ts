/** One line typed at a question, in raw mode. It is echoed as it will be sent, without control characters. */

import { plainLine } from "../screen/text/plain-text.ts";
import { graphemesOf, widthOf } from "../screen/text/width.ts";
import type { Keyboard } from "./keyboard.ts";

const MAX_CHARS = 4_000;
const ENTER = /[\r\n]/;
/** Several keys may come at once: an escape sequence, which has no meaning here, a control key, or text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const KEYS = /\x1b.*|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+/gs;
/** Clears the line and puts the cursor at its start. */
export const CLEAR = "\r\x1b[K";

interface Typing {
  readonly keyboard: Pick<Keyboard, "next">;
  readonly write: (text: string) => Promise<void>;
  /** Of the terminal, which folds a longer line; absent: whoever shows it folds it. */
  readonly columns?: number | undefined;
}

interface Line {
  readonly prompt: string;
  readonly initial: string;
  /** A secret: a dot stands for each character. */
  readonly isHidden?: boolean;
}

/** undefined: Esc or Ctrl-D, or the question was closed. An empty line is an answer. */
export async function enterLine(
  { keyboard, write, columns }: Typing,
  { prompt, initial, isHidden = false }: Line,
  signal: AbortSignal,
): Promise<string | undefined> {
  let line = initial;
  let before = "";
  const show = async (): Promise<void> => {
    const shown = `${prompt}${isHidden ? "•".repeat([...line].length) : plainLine(line)}`;
    const isLonger = shown.startsWith(before);
    await write(isLonger ? shown.slice(before.length) : `${cleared(before, columns)}${shown}`);
    before = shown;
  };
  await show();
  for (;;) {
    const keys = await keyboard.next(signal);
    if (keys === undefined || keys === "\x1b" || keys === "\x04") {
      await write("\n");
      return undefined;
    }
    const isOver = ENTER.test(keys);
    line = edited(line, keys);
    await show();
    if (!isOver) continue;
    await write("\n");
    return line;
  }
}

/** A terminal has folded what is wider than it is: the rows above go, too. */
function cleared(shown: string, columns = Number.POSITIVE_INFINITY): string {
  const above = Math.floor(Math.max(0, widthOf(shown) - 1) / columns);
  return above > 0 ? `\r\x1b[${above}A\x1b[J` : CLEAR;
}

/** Keys without a meaning here, such as arrows, change nothing; what follows Enter is dropped. */
function edited(line: string, keys: string): string {
  const [typed = ""] = keys.split(ENTER);
  return (typed.match(KEYS) ?? []).reduce(pressed, line);
}

function pressed(line: string, key: string): string {
  if (key === "\x7f" || key === "\b") return graphemesOf(line).slice(0, -1).join("");
  if (key === "\x15") return "";
  if (key < " ") return line;
  // the initial text is never cut
  return `${line}${key}`.slice(0, Math.max(MAX_CHARS, line.length));
}
