/** Parses the input of a terminal in raw mode into keys. */
export type Key =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "named"; readonly name: KeyName };

export type KeyName =
  | "up"
  | "down"
  | "page_up"
  | "page_down"
  | "home"
  | "end"
  | "enter"
  | "escape"
  | "backspace"
  | "ctrl_c"
  | "ctrl_l"
  | "ctrl_z";

const SEQUENCES: ReadonlyMap<string, KeyName> = new Map([
  ["\x1b[A", "up"],
  ["\x1bOA", "up"],
  ["\x1b[B", "down"],
  ["\x1bOB", "down"],
  ["\x1b[5~", "page_up"],
  ["\x1b[6~", "page_down"],
  ["\x1b[H", "home"],
  ["\x1bOH", "home"],
  ["\x1b[1~", "home"],
  ["\x1b[F", "end"],
  ["\x1bOF", "end"],
  ["\x1b[4~", "end"],
  ["\r", "enter"],
  ["\n", "enter"],
  ["\x1b", "escape"],
  ["\x7f", "backspace"],
  ["\b", "backspace"],
  ["\x03", "ctrl_c"],
  ["\x0c", "ctrl_l"],
  ["\x1a", "ctrl_z"],
]);

/** An escape sequence, a control character, or one character of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const KEY = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~])?|[\x00-\x1a\x1c-\x1f\x7f]|[^\x00-\x1f\x7f]/gsu;

/** Unknown sequences and control characters are ignored. */
export function parseKeys(sent: string): Key[] {
  return (sent.match(KEY) ?? []).flatMap((piece): Key[] => {
    const name = SEQUENCES.get(piece);
    if (name !== undefined) return [{ kind: "named", name }];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
    return /^[\x00-\x1f\x7f]/.test(piece) ? [] : [{ kind: "text", text: piece }];
  });
}
