/**
 * How often the classifier of a session failed in a row. At the limit mode auto is over for the session: a guard that does not
 * answer is none.
 */
import { type Facet, plainFacet } from "../facts/facet.ts";

/** Plain data: what the journal keeps. */
export interface CircuitState {
  readonly failures: number;
  readonly isBroken: boolean;
}

const MAX_FAILURES = 5;

export class Circuit {
  #failures = 0;
  #isBroken = false;
  /** What an earlier daemon counted is in it. */
  isKnown = false;

  /** True: it has just broken. */
  recordFailure(): boolean {
    this.#failures++;
    if (this.#isBroken || this.#failures < MAX_FAILURES) return false;
    this.#isBroken = true;
    return true;
  }

  /** False: nothing was counted. */
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

/** Of the session that a process began; null: nothing was counted. */
export const circuitFacet: Facet<CircuitState | null> = plainFacet("circuit", {
  init: null as CircuitState | null,
  folds: { "permit.circuit": (_now, body) => body as unknown as CircuitState },
});
