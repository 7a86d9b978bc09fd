/** The calls refused in a run, reported with its completion. Bounded: only the first ones are kept. */
import type { Refusal } from "../../abi/refusal.ts";

const MAX_KEPT = 64;

export class RefusalList {
  /** null: no refusals, as in most runs. */
  #kept: Map<string, Refusal> | null = null;

  /** A repeated refusal of the same call is ignored. */
  add(refusal: Refusal): void {
    const key = `${refusal.tool}\n${refusal.what}`;
    this.#kept ??= new Map();
    if (this.#kept.size < MAX_KEPT && !this.#kept.has(key)) this.#kept.set(key, refusal);
  }

  clear(): void {
    this.#kept = null;
  }

  /** The field of an event; absent if nothing was refused. */
  told(): { readonly denied?: readonly Refusal[] } {
    return this.#kept === null ? {} : { denied: [...this.#kept.values()] };
  }
}
