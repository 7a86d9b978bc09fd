/**
 * Walks through the records share the journal; the removal of a history has it alone, so that no walk sees half of one.
 * A removal waits for all walks; a walk waits for the removal in progress, never for waiting removals.
 */
export class WalkLock {
  #walks = 0;
  #removal: Promise<void> | undefined;
  #idle = Promise.withResolvers<void>();

  async shared<T>(act: () => Promise<T>): Promise<T> {
    while (this.#removal !== undefined) await this.#removal;
    this.#walks++;
    try {
      return await act();
    } finally {
      this.#walks--;
      if (this.#walks === 0) this.#wake();
    }
  }

  async alone<T>(act: () => Promise<T>): Promise<T> {
    while (this.#walks > 0 || this.#removal !== undefined) await (this.#removal ?? this.#idle.promise);
    const done = Promise.withResolvers<void>();
    this.#removal = done.promise;
    try {
      return await act();
    } finally {
      this.#removal = undefined;
      done.resolve();
    }
  }

  #wake(): void {
    this.#idle.resolve();
    this.#idle = Promise.withResolvers<void>();
  }
}
