/**
 * Converts a program's output to the plain text that a terminal would show: escape sequences are removed, text that was
 * overwritten (by carriage return, backspace, erasing) is gone, other control characters are shown by their number.
 * Input comes in chunks, cut anywhere. A line is held until it ends, up to MAX_LINE_CHARS: text once returned never
 * changes.
 */
import { StringDecoder } from "node:string_decoder";

const MAX_LINE_CHARS = 64 * 1024;
const MAX_COLUMN = 1_000;
/** Longest unfinished sequence to wait for; a longer one is not taken for a sequence. */
const MAX_CUT_CHARS = 256;

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what this is about
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const RUN = /[^\x00-\x08\x0a-\x1f\x7f-\x9f]+/y;
/** ECMA-48: a control sequence, a string (which a line end also terminates), an escape sequence. */
const SEQUENCE =
  /\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\|(?=\n|\x1b[^\\]))|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/y;
const CUT_STRING = /\x1b[\]PX^_][^\x07\x1b\n]*\x1b?$/y;
const CUT_SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*|[ -/]*)$/y;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

export class PrintedText {
  readonly #decoder = new StringDecoder("utf8");
  #out: string[] = [];
  /** The part of the current line that was not returned yet. */
  #line = "";
  #column = 0;
  #isPartGiven = false;
  /** The cursor is back in text already returned, which cannot be overwritten: the next text begins a new line. */
  #isReturned = false;
  /** An escape sequence that is not complete yet. */
  #cut = "";
  #shownControls = 0;
  #hasMoved = false;

  push(chunk: Uint8Array): Uint8Array {
    this.#take(this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)));
    return this.#given();
  }

  /** Returns the current line as far as received; later output does not change it. */
  flush(): Uint8Array {
    this.#giveLine();
    return this.#given();
  }

  end(): Uint8Array {
    this.#take(this.#decoder.end());
    return this.flush();
  }

  /** How the text differs from the output, for the reader; "": no difference worth a note. */
  get note(): string {
    const notes: string[] = [];
    if (this.#shownControls > 0)
      notes.push(
        `control characters are shown by their number, such as \\x00: ${this.#shownControls} of them`,
      );
    if (this.#hasMoved) notes.push("the program moved the cursor: its screens are shown as lines");
    return notes.join("; ");
  }

  #given(): Uint8Array {
    const text = this.#out.join("");
    this.#out = [];
    return Buffer.from(text);
  }

  #take(chunk: string): void {
    const text = this.#cut + chunk;
    this.#cut = "";
    if (CONTROL.test(text)) this.#takeControls(text);
    else this.#takePlain(text);
  }

  #takeControls(text: string): void {
    for (let at = 0; at < text.length; ) {
      RUN.lastIndex = at;
      const run = RUN.exec(text)?.[0] ?? "";
      if (run !== "") this.#write(run);
      at += run.length;
      if (at < text.length) at = text[at] === "\x1b" ? this.#escape(text, at) : this.#control(text, at);
    }
  }

  #takePlain(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    const first = text.indexOf("\n");
    if (first !== -1) {
      this.#write(text.slice(0, first));
      this.#endLine();
      this.#out.push(text.slice(first + 1, end));
    }
    this.#write(text.slice(end));
  }

  #write(run: string): void {
    if (run === "") return;
    if (this.#isReturned) this.#endLine();
    const before = this.#line.slice(0, this.#column).padEnd(this.#column);
    this.#column += run.length;
    this.#line = before + run + this.#line.slice(this.#column);
    if (this.#line.length > MAX_LINE_CHARS) this.#giveLine();
  }

  #giveLine(): void {
    if (this.#line === "") return;
    this.#out.push(this.#line.toWellFormed());
    this.#isPartGiven = true;
    this.#line = "";
    this.#column = 0;
  }

  #endLine(): void {
    this.#giveLine();
    this.#out.push("\n");
    this.#column = 0;
    this.#isPartGiven = false;
    this.#isReturned = false;
  }

  #return(): void {
    this.#isReturned = this.#isPartGiven && this.#line === "";
    this.#column = 0;
  }

  #control(text: string, at: number): number {
    const character = text[at] ?? "";
    switch (character) {
      case "\n":
        this.#endLine();
        break;
      case "\r":
        this.#return();
        break;
      case "\b":
        this.#column = Math.max(0, this.#column - 1);
        break;
      // bell, shifts between character sets
      case "\x07":
      case "\x0e":
      case "\x0f":
        break;
      default:
        this.#shownControls++;
        this.#write(`\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
    }
    return at + 1;
  }

  /** Handles the escape at `at`; returns the offset after it. */
  #escape(text: string, at: number): number {
    for (const sticky of [SEQUENCE, CUT_STRING, CUT_SEQUENCE]) sticky.lastIndex = at;
    const found = SEQUENCE.exec(text);
    if (found !== null) {
      if (found[2] !== undefined) this.#sequence(found[1] ?? "", found[2]);
      return at + found[0].length;
    }
    if (CUT_STRING.test(text)) {
      // the contents of a string are never shown
      this.#cut = text.slice(at, at + 2) + (text.endsWith("\x1b") ? "\x1b" : "");
      return text.length;
    }
    if (!CUT_SEQUENCE.test(text) || text.length - at > MAX_CUT_CHARS) return at + 1;
    this.#cut = text.slice(at);
    return text.length;
  }

  #sequence(parameters: string, final: string): void {
    const count = Math.min(Number.parseInt(parameters, 10) || 0, MAX_COLUMN);
    switch (final) {
      case "G":
        if (count <= 1) this.#return();
        else this.#column = count - 1;
        break;
      case "C":
        this.#column = Math.min(this.#column + Math.max(1, count), MAX_LINE_CHARS);
        break;
      case "D":
        this.#column = Math.max(0, this.#column - Math.max(1, count));
        break;
      case "K":
        this.#erase(count);
        break;
      case "J":
        this.#hasMoved = true;
        this.#erase(count);
        break;
      case "A":
      case "B":
      case "E":
      case "F":
      case "H":
      case "d":
      case "f":
        this.#hasMoved = true;
        if (this.#line !== "") this.#endLine();
    }
  }

  /** Erases in the line. 0: from the cursor on; 1: up to the cursor; else the whole line. */
  #erase(what: number): void {
    const rest = what === 1 ? this.#line.slice(this.#column) : "";
    const before = what === 0 ? this.#line.slice(0, this.#column) : "";
    this.#line = what === 1 ? rest.padStart(this.#line.length) : before;
  }
}
