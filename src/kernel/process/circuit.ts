/**
 * How often the classifier of a session failed in a row. At the limit, auto mode is closed for the rest of the session:
 * a guard that does not answer protects nothing.
 */
import { type Facet, plainFacet } from "../facts/facet.ts";

/** The state as plain data, as the journal stores it. */
interface CircuitState {
  readonly failures: number;
  readonly isBroken: boolean;
}

const MAX_FAILURES = 5;

export class Circuit {
  #failures = 0;
  #isBroken = false;
  /** The counts of earlier daemons have been taken over. */
  isKnown = false;

  /** True: this failure broke the circuit. */
  recordFailure(): boolean {
    this.#failures++;
    if (this.#isBroken || this.#failures < MAX_FAILURES) return false;
    this.#isBroken = true;
    return true;
  }

  /** False: no failures had been counted. */
  recordSuccess(): boolean {
    const hadFailed = this.#failures > 0;
    this.#failures = 0;
    return hadFailed;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  get state(): CircuitState {
    return { failures: this.#failures, isBroken: this.#isBroken };
  }

  take({ failures, isBroken }: CircuitState): void {
    this.#failures = failures;
    this.#isBroken = isBroken;
  }
}

/** The circuit of the session that the process began; null: nothing was counted. */
export const circuitFacet: Facet<CircuitState | null> = plainFacet("circuit", {
  init: null as CircuitState | null,
  folds: { "permit.circuit": (_now, body) => body as unknown as CircuitState },
});
