/**
 * Whether a program is still: somewhere it is held, by a pause or by a question to a person, and no call of it is under way.
 * Then it may leave memory, and nothing of its work is cut off.
 */
export class Stillness {
  #calls = 0;
  #held = 0;
  #heard: (() => void) | null = null;

  get isStill(): boolean {
    return this.#held > 0 && this.#calls === 0;
  }

  /** A call is under way. */
  begin(): void {
    this.#calls++;
  }

  end(): void {
    this.#calls--;
    this.#tell();
  }

  /** Waits as `wait` does, between two calls. */
  async hold<T>(wait: Promise<T>): Promise<T> {
    this.#held++;
    this.#tell();
    try {
      return await wait;
    } finally {
      this.#held--;
    }
  }

  /** The same within a call, which is not under way meanwhile. */
  async suspend<T>(wait: Promise<T>): Promise<T> {
    this.#calls--;
    try {
      return await this.hold(wait);
    } finally {
      this.#calls++;
    }
  }

  /** Resolves when it is still; at most one waits. It may go on again right after. */
  reached(): Promise<void> {
    if (this.isStill) return Promise.resolve();
    return new Promise((resolve) => {
      this.#heard = resolve;
    });
  }

  #tell(): void {
    if (!this.isStill) return;
    this.#heard?.();
    this.#heard = null;
  }
}
