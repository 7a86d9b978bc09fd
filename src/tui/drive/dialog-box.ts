/**
 * A terminal inside of the terminal, for one dialog after the other: what they write is shown as rows, and they get the keys.
 * So the questions are the same ones, with the same words, as those of every other command.
 */
import { EventEmitter } from "node:events";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { cutToWidth, unpainted, widthOf } from "../../cli/screen/text/width.ts";
import { SETTLING_MS } from "../../cli/terminal/keyboard.ts";
import type { Input, Output } from "../../cli/terminal/streams.ts";
import type { Press } from "../editor/keys.ts";
import { type Line, wrapped } from "../text/line.ts";

/** A text in the editor is being typed for so long after its last key, in ms: the next one belongs to it, too. */
const TYPING_MS = 1_000;
/** Far more than a dialog has. */
const MAX_CHARS = 200_000;

const BYTES: Readonly<Record<string, string>> = {
  ...{ enter: "\r", escape: "\x1b", backspace: "\x7f", tab: "\t", up: "\x1b[A", down: "\x1b[B", space: " " },
};

/** Far more presses than arrive at once. */
const MAX_SENT = 64;

class Keys extends EventEmitter implements Input {
  readonly isTTY = true;
  readonly settlingMs = 0;
  readonly unread: (texts: readonly string[]) => void;

  constructor(unread: (texts: readonly string[]) => void) {
    super();
    this.unread = unread;
  }

  resume(): this {
    return this;
  }
  pause(): this {
    return this;
  }
  setRawMode(): this {
    return this;
  }
}

/** Of the screen. */
interface Size {
  readonly columns: number;
  readonly rows: number;
}

export class DialogBox {
  readonly keys: Input & { listenerCount(name: string): number } = new Keys((texts) => this.#unread(texts));
  readonly output: Output & Size;
  /** How questions are put here. */
  readonly asking = {
    ...{ input: this.keys, isNumbered: true, onWhole: () => this.#toTop(), onAgain: () => this.#afresh() },
    onAnswered: (question: string, answer: string) => this.#answered(question, answer),
  } as const;
  readonly #onChange: () => void;
  readonly #nowMono: () => number;
  #text = "";
  /** Questions of the dialog that are answered: a line for each. */
  #answers = "";
  #sinceMono = 0;
  #passedMono = Number.NEGATIVE_INFINITY;
  /** A line is typed, into which a paste goes too. A question takes none: its answer is a key. */
  takesPastes = false;
  /** How many rows it is scrolled up. */
  back = 0;
  /** How many more questions wait behind it. */
  waiting: () => number = () => 0;
  /** How many are above those on the screen, as it was drawn last. */
  #rowsAbove = 0;
  /** What came with the answer and was not for the dialog, as it was typed. */
  onUnread: (press: Press) => void = () => {};
  #sent: { readonly text: string; readonly press: Press }[] = [];

  constructor(size: () => Size, nowMono: () => number, onChange: () => void) {
    this.#onChange = onChange;
    this.#nowMono = nowMono;
    (this.keys as unknown as EventEmitter).on("newListener", (name) => {
      if (name === "data" && !this.isOpen) this.#clear();
    });
    this.output = {
      isTTY: true,
      get columns() {
        return size().columns - 1;
      },
      get rows() {
        return size().rows;
      },
      write: (text, done) => {
        this.#put(String(text));
        done();
        return true;
      },
    };
  }

  /** Somebody waits for a key. */
  get isOpen(): boolean {
    return this.keys.listenerCount("data") > 0;
  }

  /** Open for long enough that a key is meant for it. `hasText`: the editor holds a text, which may be under way. */
  isSettled(hasText: boolean): boolean {
    if (!this.isOpen || this.#sinceMono === 0) return false;
    const now = this.#nowMono();
    return now - this.#sinceMono >= SETTLING_MS && !(hasText && now - this.#passedMono < TYPING_MS);
  }

  /** A key went to the editor. */
  passed(): void {
    this.#passedMono = this.#nowMono();
  }

  /** What was in front of an open dialog is gone: the user sees it from now on. */
  appeared(): void {
    if (this.#sinceMono !== 0) this.#sinceMono = this.#nowMono();
  }

  /** False: the key is not for scrolling. A line that is typed has the keys to its ends itself. */
  scroll(name: string, rows: number): boolean {
    const page = Math.max(1, Math.floor(rows / 2));
    const ends = this.takesPastes ? {} : { home: this.back + this.#rowsAbove, end: 0 };
    const to: Readonly<Record<string, number>> = {
      pageup: this.back + Math.min(page, this.#rowsAbove),
      pagedown: Math.max(0, this.back - page),
      ...ends,
    };
    if (!Object.hasOwn(to, name)) return false;
    this.back = to[name] ?? 0;
    this.#onChange();
    return true;
  }

  /** Its rows give way to one line, and the next question is one that has just appeared. */
  #answered(question: string, answer: string): void {
    const { columns } = this.output;
    const said = cutToWidth(safeLine(answer), Math.floor(columns / 2));
    const asked = cutToWidth(safeLine(question), Math.max(1, columns - widthOf(said) - 3));
    this.#answers += `${asked} → ${said}\n`;
    [this.#text, this.#sinceMono, this.back] = [this.#answers, 0, 0];
    this.#onChange();
  }

  /** All of a long text was written: it is read from its beginning on. */
  #toTop(): void {
    this.back = MAX_CHARS;
    this.#onChange();
  }

  /** As it is on the screen: `back` no further than to its top. */
  drawn({ above, back }: { readonly above: number; readonly back: number }): void {
    this.#rowsAbove = above;
    this.back = back;
  }

  press(press: Press): void {
    if (press.kind === "paste" && !this.takesPastes) {
      this.onUnread(press);
      return;
    }
    const text = press.kind === "key" ? bytesOf(press.name) : press.text;
    if (text !== undefined) {
      this.#sent = [...this.#sent.slice(1 - MAX_SENT), { text, press }];
      (this.keys as unknown as EventEmitter).emit("data", Buffer.from(text));
    }
    if (!this.isOpen) this.#close();
  }

  /** The open dialog as it is shown; undefined: none is open. `hasText` as above. */
  rows(width: number, style: string, hasText: boolean) {
    if (!this.isOpen) return undefined;
    const [lines, waiting] = [this.lines(width, style), this.waiting()];
    return { lines, waiting, back: this.back, isSettled: this.isSettled(hasText) };
  }

  /** What was written since the last dialog closed. */
  lines(width: number, style: string): readonly Line[] {
    return this.#text
      .split("\n")
      .map(shownLine)
      .flatMap((text) => wrapped([{ text, style }], width, /^ */.exec(text)?.[0]));
  }

  #put(text: string): void {
    // a line that is written anew begins with a return, and may have been folded
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that line entry prints
    for (const part of text.split(/(\r(?:\x1b\[\d{1,4}A)?\x1b\[[JK])/)) {
      if (part.startsWith("\r\x1b[")) this.#text = this.#text.slice(0, this.#text.lastIndexOf("\n") + 1);
      else this.#text += part;
    }
    if (this.#sinceMono === 0) this.#sinceMono = this.#nowMono();
    this.#text = this.#text.slice(-MAX_CHARS);
    this.back = 0;
    this.#onChange();
  }

  /** A dialog that ended leaves the screen; another that waits writes itself. */
  #close(): void {
    queueMicrotask(() => this.settle());
  }

  #unread(texts: readonly string[]): void {
    for (const text of texts) {
      const sent = this.#sent.find((each) => each.text === text);
      if (sent !== undefined) this.onUnread(sent.press);
    }
  }

  settle(): void {
    if (this.isOpen || this.#text === "") return;
    this.#clear();
    this.#onChange();
  }

  /** The dialog that is open shows itself once more: its keys count at once. */
  #afresh(): void {
    [this.#text, this.back] = ["", 0];
  }

  /** What a dialog showed is gone, and the next one has just appeared when it writes, however soon that is. */
  #clear(): void {
    [this.#text, this.#answers, this.#sinceMono, this.back] = ["", "", 0, 0];
  }
}

/** Dialogs escape what is foreign themselves; this is what they may still hold of their own colours. */
function shownLine(line: string): string {
  return safeLine(unpainted(line)).replaceAll("\\t", "  ");
}

function bytesOf(name: string): string | undefined {
  if (Object.hasOwn(BYTES, name)) return BYTES[name];
  const letter = /^ctrl\+([a-z])$/.exec(name)?.[1];
  return letter === undefined ? undefined : String.fromCharCode(letter.charCodeAt(0) - 0x60);
}
