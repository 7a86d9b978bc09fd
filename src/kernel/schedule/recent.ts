/** The 90th percentile of the last values. */
const KEPT = 64;
const PERCENTILE = 0.9;

export class Recent {
  readonly #values: number[] = [];
  #at = 0;
  #cached: number | undefined;

  add(value: number): void {
    this.#values[this.#at] = value;
    this.#at = (this.#at + 1) % KEPT;
    this.#cached = undefined;
  }

  /** undefined: there is none yet. */
  get high(): number | undefined {
    if (this.#values.length === 0) return undefined;
    this.#cached ??= this.#values.toSorted((a, b) => a - b)[
      Math.min(this.#values.length - 1, Math.floor(this.#values.length * PERCENTILE))
    ];
    return this.#cached;
  }
}
