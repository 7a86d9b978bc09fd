/** Ctrl-C. While a listener is registered it does not end the command; otherwise the system's default applies. */
export class Interrupts {
  readonly #source: SignalSource;
  readonly #listeners = new Set<() => void>();

  constructor(source: SignalSource) {
    this.#source = source;
  }

  /** Returns a function that removes the listener. */
  listen(listener: () => void): () => void {
    if (this.#listeners.size === 0) this.#source.on("SIGINT", this.raise);
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0)
        this.#source.off("SIGINT", this.raise);
    };
  }

  /** Also called for a terminal in raw mode, where Ctrl-C arrives as a key. */
  readonly raise = (): void => {
    for (const listener of [...this.#listeners]) listener();
  };
}

interface SignalSource {
  on(signal: "SIGINT", listener: () => void): unknown;
  off(signal: "SIGINT", listener: () => void): unknown;
}
