/** Ctrl-C. While somebody listens it does not end the command; otherwise the system's default holds. */
export class Interrupts {
  readonly #source: SignalSource;
  readonly #listeners = new Set<() => void>();

  constructor(source: SignalSource) {
    this.#source = source;
  }

  /** Returns the way to stop listening. */
  listen(listener: () => void): () => void {
    if (this.#listeners.size === 0) this.#source.on("SIGINT", this.raise);
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0)
        this.#source.off("SIGINT", this.raise);
    };
  }

  /** Also for a terminal in raw mode, where Ctrl-C is a key. */
  readonly raise = (): void => {
    for (const listener of [...this.#listeners]) listener();
  };
}

interface SignalSource {
  on(signal: "SIGINT", listener: () => void): unknown;
  off(signal: "SIGINT", listener: () => void): unknown;
}
