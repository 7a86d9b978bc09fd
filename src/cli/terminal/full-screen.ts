/**
 * The terminal of a program that draws the whole screen: alternate screen, no cursor, raw keys. However the command
 * ends, the terminal is restored.
 */

import { type Key, parseKeys } from "../screen/keys.ts";
import type { Size } from "../screen/top/frame.ts";
import type { Terminal } from "./streams.ts";

const ENTER = "\x1b[?1049h\x1b[?25l";
const LEAVE = "\x1b[?25h\x1b[?1049l";
const CLEAR = "\x1b[2J";
const DEFAULT_SIZE = { columns: 80, rows: 24 };

interface Listener {
  onKeys(keys: readonly Key[]): void;
  onResize(): void;
  /** The terminal was closed. */
  onGone(): void;
}

export class FullScreen implements Disposable {
  readonly #host: Terminal;
  readonly #listener: Listener;
  /** The lines on the screen; empty: not known. */
  #shown: readonly string[] = [];
  #release: () => void = () => {};

  constructor(host: Terminal, listener: Listener) {
    this.#host = host;
    this.#listener = listener;
    this.#enter();
    host.stdin.on("data", this.#take);
    host.stdin.on("end", listener.onGone);
    host.stdin.resume();
    host.stdout.on?.("resize", this.#resize);
  }

  get size(): Size {
    const { columns, rows } = this.#host.stdout;
    // a terminal whose size was never set reports 0
    return { columns: columns || DEFAULT_SIZE.columns, rows: rows || DEFAULT_SIZE.rows };
  }

  /** Writes the lines that changed; resolves when the terminal has accepted them. */
  async draw(lines: readonly string[]): Promise<void> {
    const changed = lines.map((line, at) =>
      line === this.#shown[at] ? "" : `\x1b[${at + 1};1H${line}\x1b[K`,
    );
    const text = (this.#shown.length === 0 ? CLEAR : "") + changed.join("");
    this.#shown = lines;
    if (text !== "") await new Promise<void>((done) => void this.#host.stdout.write(text, done));
  }

  /** Forces the next `draw` to write every line. */
  forget(): void {
    this.#shown = [];
  }

  async suspend(): Promise<void> {
    this.#leave();
    await this.#host.lifecycle.suspend();
    this.#enter();
    this.forget();
  }

  [Symbol.dispose](): void {
    const { stdin, stdout } = this.#host;
    stdin.off("data", this.#take);
    stdin.off("end", this.#listener.onGone);
    stdin.pause();
    stdout.off?.("resize", this.#resize);
    this.#leave();
  }

  #enter(): void {
    this.#release = this.#host.lifecycle.onEnd(() => this.#restore());
    this.#host.stdin.setRawMode?.(true);
    this.#write(ENTER);
  }

  #leave(): void {
    this.#release();
    this.#restore();
  }

  /** A terminal accepts this write immediately, so it also works while the process ends. */
  #restore(): void {
    this.#write(LEAVE);
    this.#host.stdin.setRawMode?.(false);
  }

  #write(text: string): void {
    this.#host.stdout.write(text, () => {});
  }

  readonly #take = (chunk: Buffer): void => this.#listener.onKeys(parseKeys(chunk.toString("utf8")));

  readonly #resize = (): void => {
    this.forget();
    this.#listener.onResize();
  };
}
