/** Whether a process works: its time counts against a budget then. Who counts it hears of each change. */
export class Work {
  readonly #isWorking: () => boolean;
  #was = false;
  #heard: ((isWorking: boolean) => void) | null = null;

  constructor(isWorking: () => boolean) {
    this.#isWorking = isWorking;
  }

  /** Hears how it is now, and when that changes; one at most. */
  watch(heard: (isWorking: boolean) => void): void {
    this.#heard = heard;
    this.#was = this.#isWorking();
    heard(this.#was);
  }

  /** After each change of what it looks at. */
  check(): void {
    const is = this.#isWorking();
    if (is === this.#was) return;
    this.#was = is;
    this.#heard?.(is);
  }
}
