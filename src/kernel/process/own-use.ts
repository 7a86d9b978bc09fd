/** What a process has used by its own calls, as far as this daemon knows. The account holds the use of its subtree. */
import type { Charge } from "../../abi/effects.ts";
import { microUsd } from "../../lib/usd.ts";

export class OwnUse {
  #tokens = 0;
  #microUsd = 0;
  #unpricedCalls = 0;

  get tokens(): number {
    return this.#tokens;
  }

  /** Millionths of a dollar. */
  get microUsd(): number {
    return this.#microUsd;
  }

  /** Calls of unknown price made under this daemon. */
  get unpricedCalls(): number {
    return this.#unpricedCalls;
  }

  /** Adds the charge of one call. */
  add({ tokens, usd }: Charge): void {
    this.#tokens += tokens;
    this.#microUsd += microUsd(usd ?? 0);
    if (usd === null && tokens > 0) this.#unpricedCalls++;
  }

  /** Adds the use recorded by earlier daemons. */
  carryOver(earlier: { readonly tokens?: number; readonly microUsd?: number }): void {
    this.#tokens += earlier.tokens ?? 0;
    this.#microUsd += earlier.microUsd ?? 0;
  }
}
