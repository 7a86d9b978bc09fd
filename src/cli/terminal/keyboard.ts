import { setTimeout as pause } from "node:timers/promises";
import type { Input } from "./streams.ts";

/** Keys typed before the question appeared may still be arriving from the terminal for this long, in ms. */
const DRAIN_MS = 100;
/** The keys of a question that has just appeared were meant for what was there before, for so long, in ms. */
export const SETTLING_MS = 250;
/** Whoever has answered a question so long before may still be at it, in ms. */
const ANSWERED_MS = 500;
/** Keys not yet read; more are dropped. */
const MAX_WAITING = 16;
const CTRL_C = "\x03";

/** When a question was last answered by a key; one that waits is no answer yet. */
const lastKeys = new WeakMap<Input, number>();

/** The terminal in raw mode, for one question: keys come one by one and are not echoed. What it has not read it gives back. */
export class Keyboard implements Disposable {
  readonly #input: Input;
  readonly #onInterrupt: () => void;
  readonly #waiting: string[] = [];
  #isOpen = false;
  #hasEnded = false;
  #wake: () => void = () => {};

  /** Ctrl-C is a key in raw mode; it goes to `onInterrupt` instead. */
  constructor(input: Input, onInterrupt: () => void) {
    this.#input = input;
    this.#onInterrupt = onInterrupt;
  }

  /** Switches to raw mode and discards the keys typed so far. */
  async open(signal: AbortSignal): Promise<void> {
    this.#isOpen = true;
    this.#input.setRawMode?.(true);
    this.#input.on("data", this.#take);
    this.#input.on("end", this.#end);
    this.#input.resume();
    await pause(DRAIN_MS, undefined, { signal }).catch(() => {});
    this.#waiting.length = 0;
  }

  /** Discards what is typed before the question, which is shown by now, can have been read: where it follows another one at once. */
  async settle(signal: AbortSignal): Promise<void> {
    const ms = this.#input.settlingMs ?? SETTLING_MS;
    const lastKey = lastKeys.get(this.#input);
    if (ms === 0 || lastKey === undefined || performance.now() - lastKey > ANSWERED_MS) return;
    await pause(ms, undefined, { signal }).catch(() => {});
    this.#waiting.length = 0;
  }

  /**
   * The keys that the terminal sent at once: a key, an escape sequence, or pasted text. undefined: aborted, or the
   * terminal was closed.
   */
  async next(signal: AbortSignal): Promise<string | undefined> {
    const wake = (): void => this.#wake();
    signal.addEventListener("abort", wake);
    try {
      while (this.#waiting.length === 0 && !signal.aborted && !this.#hasEnded)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      if (this.#waiting.length > 0) lastKeys.set(this.#input, performance.now());
      return signal.aborted ? undefined : this.#waiting.shift();
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#input.off("data", this.#take);
    this.#input.off("end", this.#end);
    this.#input.pause();
    this.#input.setRawMode?.(false);
    if (this.#waiting.length > 0) this.#input.unread?.(this.#waiting.splice(0));
  }

  readonly #take = (chunk: Buffer): void => {
    const text = chunk.toString("utf8");
    if (text.includes(CTRL_C)) this.#onInterrupt();
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(text);
    this.#wake();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#wake();
  };
}
