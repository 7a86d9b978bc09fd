/**
 * Whether a program is quiescent: it is held by a pause or by a question to the user, and none of its calls is in progress.
 * A quiescent program may leave memory without any of its work being cut off.
 */
export class Quiescence {
  #calls = 0;
  #held = 0;
  #heard: (() => void) | null = null;

  get isQuiescent(): boolean {
    return this.#held > 0 && this.#calls === 0;
  }

  /** A call begins. */
  begin(): void {
    this.#calls++;
  }

  end(): void {
    this.#calls--;
    this.#tell();
  }

  /** Counts the program as held, between two calls, until `wait` settles. */
  async hold<T>(wait: Promise<T>): Promise<T> {
    this.#held++;
    this.#tell();
    try {
      return await wait;
    } finally {
      this.#held--;
    }
  }

  /** The same within a call, which does not count as in progress meanwhile. */
  async suspend<T>(wait: Promise<T>): Promise<T> {
    this.#calls--;
    try {
      return await this.hold(wait);
    } finally {
      this.#calls++;
    }
  }

  /** Resolves when the program is quiescent; at most one waiter. The program may resume right afterwards. */
  reached(): Promise<void> {
    if (this.isQuiescent) return Promise.resolve();
    return new Promise((resolve) => {
      this.#heard = resolve;
    });
  }

  #tell(): void {
    if (!this.isQuiescent) return;
    this.#heard?.();
    this.#heard = null;
  }
}
