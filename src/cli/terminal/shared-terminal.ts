/**
 * The terminal of a command that follows something: raw while it follows, so that Ctrl-] and Ctrl-C leave at once. A
 * dialog may read from it meanwhile; it never receives those keys and does not change the terminal mode.
 */
import type { Input, Lifecycle } from "./streams.ts";

const LEAVE_KEYS = ["\x03", "\x1d"];
const SUSPEND = "\x1a";

export class SharedTerminal implements Input, Disposable {
  readonly isTTY = true;
  readonly #input: Input;
  readonly #lifecycle: Lifecycle;
  readonly #onLeave: () => void;
  readonly #release: () => void;
  readonly #readers = new Set<(chunk: Buffer) => void>();

  constructor(input: Input, lifecycle: Lifecycle, onLeave: () => void) {
    this.#input = input;
    this.#lifecycle = lifecycle;
    this.#onLeave = onLeave;
    this.#release = lifecycle.onEnd(() => this.#input.setRawMode?.(false));
    input.setRawMode?.(true);
    input.on("data", this.#take);
    input.resume();
  }

  get settlingMs(): number | undefined {
    return this.#input.settlingMs;
  }

  on(event: "data" | "end" | "error", listener: ((chunk: Buffer) => void) & (() => void)): void {
    if (event === "data") this.#readers.add(listener);
    else if (event === "end") this.#input.on("end", listener);
    else this.#input.on("error", listener);
  }

  off(event: "data" | "end" | "error", listener: ((chunk: Buffer) => void) & (() => void)): void {
    if (event === "data") this.#readers.delete(listener);
    else if (event === "end") this.#input.off("end", listener);
    else this.#input.off("error", listener);
  }

  resume(): void {}
  pause(): void {}

  [Symbol.dispose](): void {
    this.#input.off("data", this.#take);
    this.#input.pause();
    this.#input.setRawMode?.(false);
    this.#release();
  }

  readonly #take = (chunk: Buffer): void => {
    const text = chunk.toString("latin1");
    if (LEAVE_KEYS.some((key) => text.includes(key))) this.#onLeave();
    else if (text === SUSPEND) void this.#suspend();
    else for (const reader of [...this.#readers]) reader(chunk);
  };

  async #suspend(): Promise<void> {
    this.#input.setRawMode?.(false);
    await this.#lifecycle.suspend();
    this.#input.setRawMode?.(true);
  }
}
