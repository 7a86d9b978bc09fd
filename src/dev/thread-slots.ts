/** Bounds how many memory-intensive threads run at once; later calls wait in a queue. */
export class ThreadSlots {
  readonly #max: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(act: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running++;
    try {
      return await act();
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}
