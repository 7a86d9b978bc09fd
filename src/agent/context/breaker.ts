/** Stops automatic compaction that does not help: after failures in a row, or when it happens at nearly every step. Pure. */
import type { BreakerReason } from "../../abi/context.ts";

const MOST_FAILURES = 3;
/** So many in so few requests. */
const MOST_OFTEN = 3;
const REQUESTS = 10;

export interface BreakerState {
  readonly failures: number;
  /** The newest requests that a summary was made for. */
  readonly accepted: readonly number[];
}

export class Breaker {
  #failures: number;
  #accepted: readonly number[];

  constructor({ failures, accepted }: BreakerState = { failures: 0, accepted: [] }) {
    this.#failures = failures;
    this.#accepted = accepted;
  }

  /** undefined: as at first. */
  get state(): BreakerState | undefined {
    const [failures, accepted] = [this.#failures, this.#accepted];
    return failures === 0 && accepted.length === 0 ? undefined : { failures, accepted };
  }

  /** null: it is closed. */
  get reason(): BreakerReason | null {
    if (this.#failures >= MOST_FAILURES) return "failures";
    return this.#accepted.length >= MOST_OFTEN ? "thrash" : null;
  }

  get isOpen(): boolean {
    return this.reason !== null;
  }

  failed(): void {
    this.#failures++;
  }

  /** `request`: the number of the request that it was made for. */
  accepted(request: number): void {
    this.#failures = 0;
    this.#accepted = [...this.#accepted, request].filter((each) => each > request - REQUESTS);
  }

  close(): void {
    this.#failures = 0;
    this.#accepted = [];
  }
}
