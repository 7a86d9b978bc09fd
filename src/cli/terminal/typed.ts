/** Splits the input of a terminal, while a line is edited, into keys, runs of text, and pasted text. */

export type Typed =
  /** One key, as the terminal sends it. */
  | { readonly kind: "key"; readonly text: string }
  /** Several characters at once: typed ahead, or pasted in a terminal that does not mark pastes. */
  | { readonly kind: "run"; readonly text: string }
  | { readonly kind: "pasted"; readonly text: string }
  /** A line break that does not send the line. */
  | { readonly kind: "break"; readonly text: string };

/** Turns the terminal's marking of pasted text on; `MARK_NO_PASTES` turns it off. */
export const MARK_PASTES = "\x1b[?2004h";
export const MARK_NO_PASTES = "\x1b[?2004l";

const BEGIN = "\x1b[200~";
const END = "\x1b[201~";
/** Far more than a message may have; the rest is dropped. */
const MAX_PASTED_CHARS = 1_000_000;
/** Alt-Enter, and Shift-Enter of the terminals that report it. */
const BREAKS: ReadonlySet<string> = new Set(["\x1b\r", "\x1b[13;2u"]);

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const PIECE = /[^\x00-\x1f\x7f]+|\x1b(?:\x1b?\[[0-?]*[ -/]*[@-~]|\x1b?O[@-~]|[^\x1b])?|[\x00-\x1f\x7f]/gsu;
/** An escape sequence whose rest has not arrived yet. A lone Esc is a key. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const PART_OF_BEGIN = /\x1b\[(?:2(?:00?)?)?$/;

export class TypedReader {
  readonly #decoder = new TextDecoder();
  #part = "";
  /** The pasted text so far; undefined: no paste in progress. */
  #pasted: { readonly text: string; readonly tail: string } | undefined;

  take(chunk: Uint8Array): Typed[] {
    const found: Typed[] = [];
    let rest = this.#part + this.#decoder.decode(chunk, { stream: true });
    this.#part = "";
    while (rest !== "")
      rest = this.#pasted === undefined ? this.#keys(rest, found) : this.#paste(rest, found);
    return found;
  }

  /** Returns the text after the start of a paste. */
  #keys(text: string, found: Typed[]): string {
    const at = text.indexOf(BEGIN);
    const typed = at < 0 ? text.replace(PART_OF_BEGIN, "") : text.slice(0, at);
    for (const piece of typed.match(PIECE) ?? []) found.push(typedOf(piece));
    if (at < 0) this.#part = text.slice(typed.length);
    else this.#pasted = { text: "", tail: "" };
    return at < 0 ? "" : text.slice(at + BEGIN.length);
  }

  /**
   * Returns the text after the end of the paste. The last characters are held back, because the end mark may arrive in
   * parts.
   */
  #paste(text: string, found: Typed[]): string {
    const all = `${this.#pasted?.tail ?? ""}${text}`;
    const end = all.indexOf(END);
    const until = end < 0 ? Math.max(0, all.length - END.length + 1) : end;
    const pasted = `${this.#pasted?.text ?? ""}${all.slice(0, until)}`.slice(0, MAX_PASTED_CHARS);
    if (end < 0) this.#pasted = { text: pasted, tail: all.slice(until) };
    else {
      this.#pasted = undefined;
      found.push({ kind: "pasted", text: pasted.replace(/[\r\n]+$/, "") });
    }
    return end < 0 ? "" : all.slice(end + END.length);
  }
}

function typedOf(piece: string): Typed {
  if (BREAKS.has(piece)) return { kind: "break", text: "\n" };
  return { kind: piece.length > 1 && !piece.startsWith("\x1b") ? "run" : "key", text: piece };
}

/** Stands for a line break in the one line that is edited. */
const BREAK = "␤";

/** Text as one editable line, without control characters. */
export function editable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
  return text.replace(/\r\n|[\r\n\u2028\u2029]/g, BREAK).replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

/** The text of an edited line, with its line breaks. */
export function said(line: string): string {
  return line.replaceAll(BREAK, "\n");
}
