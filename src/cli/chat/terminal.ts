/**
 * The terminal of a conversation: one editable line, with the output above it. An open question receives the keys; the
 * line is hidden meanwhile and returns afterwards with its text.
 */
import { EventEmitter } from "node:events";
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from "node:readline";
import type { Host } from "../host/host.ts";
import { PROMPT } from "../screen/chat-lines.ts";
import type { Input, Output } from "../terminal/streams.ts";
import { editable, MARK_NO_PASTES, MARK_PASTES, said, type Typed, TypedReader } from "../terminal/typed.ts";

const LINES_REMEMBERED = 1_000;
const SHIFT_TAB = "\x1b[Z";

interface Listener {
  onLine(text: string): void;
  /** Ctrl-C; `isEmpty`: nothing was typed. */
  onInterrupt(isEmpty: boolean): void;
  /** Shift-Tab. */
  onNextMode(): void;
  /** Ctrl-D on an empty line, or the terminal was closed. */
  onEnd(): void;
}

/** One of the two receivers of keys: the line or a question. It does not change the mode of the terminal. */
class Face extends EventEmitter implements Input {
  readonly isTTY = true;
  settlingMs: number | undefined;
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

/** The output stream as the line editor expects it. */
class Screen extends EventEmitter {
  readonly isTTY = true;
  readonly #output: Output;

  constructor(output: Output) {
    super();
    this.#output = output;
    output.on?.("resize", this.#resize);
  }

  get columns(): number {
    return this.#output.columns || 80;
  }

  write(text: string, done: () => void = () => {}): boolean {
    return this.#output.write(text, done);
  }

  close(): void {
    this.#output.off?.("resize", this.#resize);
  }

  readonly #resize = (): void => void this.emit("resize");
}

export class ChatTerminal implements AsyncDisposable {
  readonly #host: Pick<Host, "stdin" | "lifecycle">;
  readonly #screen: Screen;
  readonly #editor = new Face();
  readonly #keys = new Face();
  readonly #reader = new TypedReader();
  readonly #line: Interface;
  readonly #release: () => void;
  readonly #listener: Listener;
  /** The terminal takes no escape sequence: lines are read as it gives them, and none is drawn again. */
  readonly #isDumb: boolean;
  /** A run is in progress. A terminal that cannot take a prompt back has none meanwhile, and lines are typed without. */
  isBusy = false;
  #prompt = PROMPT;
  #isHidden = true;
  #isRaw = false;
  #hasEnded = false;
  #last: Promise<void> = Promise.resolve();

  /** `remembered`: lines of the history, newest first. */
  constructor(
    host: Pick<Host, "stdin" | "stdout" | "lifecycle" | "env">,
    remembered: readonly string[],
    listener: Listener,
  ) {
    this.#keys.settlingMs = host.stdin.settlingMs;
    this.#host = host;
    this.#listener = listener;
    this.#isDumb = host.env.TERM === "dumb";
    this.#screen = new Screen(host.stdout);
    this.#release = host.lifecycle.onEnd(() => this.#setRaw(false));
    this.#setRaw(true);
    this.#line = createInterface({
      input: this.#editor as unknown as NodeJS.ReadableStream,
      output: this.#screen as unknown as NodeJS.WritableStream,
      terminal: !this.#isDumb,
      prompt: PROMPT,
      historySize: LINES_REMEMBERED,
      history: remembered.map((text) => editable(text.trim())),
    });
    this.#line.on("line", (text) => {
      // the typed line stays on the screen, and a new line begins
      this.#isHidden = true;
      listener.onLine(said(text));
      void this.above(async () => {});
    });
    this.#line.on("SIGINT", () => {
      const isEmpty = this.#line.line === "";
      if (!isEmpty) this.#line.write(null, { ctrl: true, name: "e" });
      if (!isEmpty) this.#line.write(null, { ctrl: true, name: "u" });
      listener.onInterrupt(isEmpty);
    });
    this.#line.on("SIGTSTP", () => void this.#suspend());
    this.#line.on("close", () => {
      if (this.#hasEnded) return;
      this.#hide();
      this.#hasEnded = true;
      listener.onEnd();
    });
    this.#keys.on("newListener", (event) => {
      if (event === "data") this.#hide();
    });
    this.#keys.on("removeListener", (event) => {
      if (event === "data" && this.#keys.listenerCount("data") === 0) this.#show();
    });
    host.stdin.on("data", this.#take);
    host.stdin.on("end", this.#end);
    host.stdin.resume();
    this.#show();
  }

  /** The input that a question reads its keys from. */
  get keys(): Input {
    return this.#keys;
  }

  /** Sets the prompt shown before the line. */
  setPrompt(prompt: string): void {
    if (prompt === this.#prompt) return;
    this.#prompt = prompt;
    this.#line.setPrompt(prompt);
    void this.above(async () => {});
  }

  /** Prints above the line; calls run one after the other. */
  above(print: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(async () => {
      const isAsking = this.#keys.listenerCount("data") > 0;
      if (!isAsking) this.#hide();
      try {
        await print();
      } finally {
        if (!isAsking) this.#show();
      }
    });
    return this.#last;
  }

  /** Restores the terminal. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last.catch(() => {});
    const { line } = this.#line;
    this.#hide();
    // text that was typed but not sent stays visible
    if (line !== "" && !this.#hasEnded) this.#screen.write(`${this.#prompt}${said(line)}\n`);
    this.#hasEnded = true;
    this.#line.close();
    this.#screen.close();
    const { stdin } = this.#host;
    stdin.off("data", this.#take);
    stdin.off("end", this.#end);
    stdin.pause();
    this.#setRaw(false);
    this.#release();
  }

  readonly #take = (chunk: Buffer): void => {
    const typed = this.#reader.take(chunk);
    if (this.#keys.listenerCount("data") === 0) for (const each of typed) this.#edit(each);
    else this.#answer(typed);
  };

  /** Key by key: the line editor miscounts its rows when several keys arrive at once. */
  #edit({ kind, text }: Typed): void {
    if (kind === "key" && text === SHIFT_TAB) this.#listener.onNextMode();
    else if (kind === "key") this.#editor.emit("data", Buffer.from(text));
    else if (!this.#hasEnded) this.#line.write(editable(text));
  }

  /** Keys that arrived at once stay together; pasted text answers no question. */
  #answer(typed: readonly Typed[]): void {
    const keys = typed.flatMap(({ kind, text }) => (kind === "pasted" || kind === "break" ? [] : [text]));
    if (keys.length > 0) this.#keys.emit("data", Buffer.from(keys.join("")));
  }

  readonly #end = (): void => {
    this.#keys.emit("end");
    this.#line.close();
  };

  #show(): void {
    if (!this.#isHidden || this.#hasEnded || this.#keys.listenerCount("data") > 0) return;
    if (this.#isDumb && this.isBusy) return;
    this.#isHidden = false;
    this.#line.prompt(true);
  }

  #hide(): void {
    if (this.#isHidden || this.#hasEnded) return;
    this.#isHidden = true;
    if (this.#isDumb) {
      this.#screen.write("\n");
      return;
    }
    const output = this.#screen as unknown as NodeJS.WritableStream;
    moveCursor(output, 0, -this.#line.getCursorPos().rows);
    cursorTo(output, 0);
    clearScreenDown(output);
  }

  async #suspend(): Promise<void> {
    this.#hide();
    this.#setRaw(false);
    await this.#host.lifecycle.suspend();
    this.#setRaw(true);
    this.#show();
  }

  #setRaw(isRaw: boolean): void {
    if (this.#isRaw === isRaw || this.#isDumb) return;
    this.#isRaw = isRaw;
    this.#host.stdin.setRawMode?.(isRaw);
    this.#screen.write(isRaw ? MARK_PASTES : MARK_NO_PASTES);
  }
}
