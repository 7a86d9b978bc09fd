/** How long a process has run, without pauses and the time between two daemons. Takes monotonic milliseconds. */
export class Stopwatch {
  /** null: not started. */
  #startedMono: number | null = null;
  #beforeMs = 0;
  #heldSince: number | null = null;
  #heldMs = 0;

  start(mono: number): void {
    this.#startedMono = mono;
    this.#heldMs = 0;
  }

  /** Milliseconds that it ran under an earlier daemon. */
  carryOver(ms: number): void {
    this.#beforeMs = ms;
  }

  /** Idempotent. */
  hold(mono: number): void {
    this.#heldSince ??= mono;
  }

  release(mono: number): void {
    this.#heldMs += this.#sinceHeld(mono);
    this.#heldSince = null;
  }

  ms(mono: number): number {
    if (this.#startedMono === null) return this.#beforeMs;
    return this.#beforeMs + mono - this.#startedMono - this.#heldMs - this.#sinceHeld(mono);
  }

  /** A pause before the start does not count against the run. */
  #sinceHeld(mono: number): number {
    return this.#heldSince === null ? 0 : mono - Math.max(this.#heldSince, this.#startedMono ?? 0);
  }
}
