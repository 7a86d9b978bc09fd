/**
 * Time in which one process of an account works, or several: it runs while at least one does. None goes by while all of them are
 * paused, blocked, or wait for a person. Monotonic clock.
 */
export class WorkTime {
  readonly #working = new Set<object>();
  #beforeMs: number;
  #since = 0;

  constructor(beforeMs: number) {
    this.#beforeMs = beforeMs;
  }

  get isRunning(): boolean {
    return this.#working.size > 0;
  }

  ms(mono: number): number {
    return this.#beforeMs + (this.isRunning ? mono - this.#since : 0);
  }

  /** Twice is once. */
  begin(who: object, mono: number): void {
    if (!this.isRunning) this.#since = mono;
    this.#working.add(who);
  }

  /** Twice is once. */
  end(who: object, mono: number): void {
    const ms = this.ms(mono);
    this.#working.delete(who);
    if (!this.isRunning) this.#beforeMs = ms;
  }

  /** It had worked at least this long, as somebody else knows. */
  atLeast(ms: number): void {
    this.#beforeMs = Math.max(this.#beforeMs, ms);
  }
}
