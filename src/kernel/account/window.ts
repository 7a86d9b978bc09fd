/**
 * A budget window: a limit over a rolling period, in 60 buckets: what was spent counts for at least that period, and at most a sixtieth
 * longer. Uses the wall clock, as it spans several daemons; a clock that was set back frees nothing early.
 */
import type { BudgetWindow } from "../../abi/budget.ts";

const BUCKETS = 60;

/** The window as plain data: the non-empty buckets, as pairs of bucket number since the epoch and amount. */
export interface KeptWindow {
  readonly unit: BudgetWindow["unit"];
  readonly perMs: number;
  readonly buckets: readonly (readonly [number, number])[];
}

export class Window {
  readonly unit: BudgetWindow["unit"];
  readonly perMs: number;
  limit: number;
  /** Buckets by rising number; at most 61, plus those from a clock that ran ahead. */
  #buckets: [number, number][] = [];

  constructor({ unit, limit, perMs }: BudgetWindow, kept: KeptWindow["buckets"] = []) {
    this.unit = unit;
    this.limit = limit;
    this.perMs = perMs;
    this.#buckets = kept.map(([at, amount]) => [at, amount]);
  }

  get kept(): KeptWindow {
    return { unit: this.unit, perMs: this.perMs, buckets: this.#buckets.map(([at, amount]) => [at, amount]) };
  }

  spend(amount: number, now: number): void {
    if (amount === 0) return;
    this.#forget(now);
    const at = this.#bucket(now);
    const last = this.#buckets.at(-1);
    // if the clock was set back, the newest bucket takes the amount
    if (last !== undefined && last[0] >= at) last[1] += amount;
    else this.#buckets.push([at, amount]);
  }

  spent(now: number): number {
    this.#forget(now);
    return this.#buckets.reduce((sum, [, amount]) => sum + amount, 0);
  }

  /** When `asked` will fit besides `reserved`, if nothing else is spent; null: never. Wall clock, ms. */
  resetsAt(asked: number, reserved: number, now: number): number | null {
    if (asked + reserved > this.limit) return null;
    let left = this.spent(now);
    for (const [at, amount] of this.#buckets) {
      if (left + reserved + asked <= this.limit) break;
      left -= amount;
      if (left + reserved + asked <= this.limit) return (at + BUCKETS + 1) * this.#widthMs;
    }
    return now;
  }

  get #widthMs(): number {
    return this.perMs / BUCKETS;
  }

  #bucket(now: number): number {
    return Math.floor(now / this.#widthMs);
  }

  #forget(now: number): void {
    const oldest = this.#bucket(now) - BUCKETS;
    while ((this.#buckets[0]?.[0] ?? Number.POSITIVE_INFINITY) < oldest) this.#buckets.shift();
  }
}
