/**
 * The time in which at least one process of an account works. It stands still while all of them are paused, blocked, or
 * wait for the user. Monotonic clock.
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

  /** Idempotent. */
  begin(who: object, mono: number): void {
    if (!this.isRunning) this.#since = mono;
    this.#working.add(who);
  }

  /** Idempotent. */
  end(who: object, mono: number): void {
    const ms = this.ms(mono);
    this.#working.delete(who);
    if (!this.isRunning) this.#beforeMs = ms;
  }

  /** Raises the total to at least `ms`, known from another source. */
  atLeast(ms: number): void {
    this.#beforeMs = Math.max(this.#beforeMs, ms);
  }
}
