/** What a process has used by its own calls, as far as this daemon knows. Its account has what its subtree used. */
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

  /** Calls whose price nobody knows, of this daemon. */
  get unpricedCalls(): number {
    return this.#unpricedCalls;
  }

  /** One call. */
  add({ tokens, usd }: Charge): void {
    this.#tokens += tokens;
    this.#microUsd += microUsd(usd ?? 0);
    if (usd === null && tokens > 0) this.#unpricedCalls++;
  }

  /** Of an earlier daemon. */
  carryOver(earlier: { readonly tokens?: number; readonly microUsd?: number }): void {
    this.#tokens += earlier.tokens ?? 0;
    this.#microUsd += earlier.microUsd ?? 0;
  }
}
