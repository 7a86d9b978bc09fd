/** What was refused in a run, for whoever reads its end. Bounded: of more, the first are kept. */
import type { Refusal } from "../../abi/refusal.ts";

const MAX_KEPT = 64;

export class RefusalList {
  /** null: none, as in most runs. */
  #kept: Map<string, Refusal> | null = null;

  /** The same call again says nothing new. */
  add(refusal: Refusal): void {
    const key = `${refusal.tool}\n${refusal.what}`;
    this.#kept ??= new Map();
    if (this.#kept.size < MAX_KEPT && !this.#kept.has(key)) this.#kept.set(key, refusal);
  }

  clear(): void {
    this.#kept = null;
  }

  /** For an event: none is left out. */
  told(): { readonly denied?: readonly Refusal[] } {
    return this.#kept === null ? {} : { denied: [...this.#kept.values()] };
  }
}
