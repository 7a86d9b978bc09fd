/** Whether a process works, so that its time counts against a budget. The watcher is notified of each change. */
export class Work {
  readonly #isWorking: () => boolean;
  #was = false;
  #heard: ((isWorking: boolean) => void) | null = null;

  constructor(isWorking: () => boolean) {
    this.#isWorking = isWorking;
  }

  get isWorking(): boolean {
    return this.#isWorking();
  }

  /** `heard` is called with the current value and after each change; at most one watcher. */
  watch(heard: (isWorking: boolean) => void): void {
    this.#heard = heard;
    this.#was = this.#isWorking();
    heard(this.#was);
  }

  /** Called after each change of what `isWorking` depends on. */
  check(): void {
    const is = this.#isWorking();
    if (is === this.#was) return;
    this.#was = is;
    this.#heard?.(is);
  }
}
