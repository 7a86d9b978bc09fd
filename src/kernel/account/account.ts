/**
 * Budgets as a tree, in tokens. A call reserves its worst case up the whole tree before it is made and settles with what it
 * cost; so the sum of what is spent and reserved below a limit never passes it, however many calls run at once.
 */
import type { AccountView } from "../../abi/program.ts";
import type { RecordOwner } from "../ports/journal.ts";

export class Account {
  /** 0: no limit of its own. */
  readonly limit: number;
  /** In whose history its use is kept; null: it ends with the daemon. */
  readonly owner: RecordOwner | null;
  /** Keeps its use where it has no owner: of a supervised child, whose account outlives its processes. */
  onUse: ((used: number) => void) | null = null;
  readonly #parent: Account | null;
  #used: number;
  #reserved = 0;

  /** `used`: by an earlier daemon; those above have counted it already. */
  constructor(parent: Account | null, limit: number, owner: RecordOwner | null = null, used = 0) {
    this.#parent = parent;
    this.limit = Math.max(0, limit);
    this.owner = owner;
    this.#used = used;
  }

  view(): AccountView {
    return { limit: this.limit, used: this.#used, reserved: this.#reserved };
  }

  /** What this account and all above it can still pay; Infinity without any limit. */
  remaining(): number {
    const own = this.limit === 0 ? Infinity : this.limit - this.#used - this.#reserved;
    return Math.min(own, this.#parent?.remaining() ?? Infinity);
  }

  /** This one and those above it that have a limit, nearest first. */
  limited(): readonly Account[] {
    const above = this.#parent?.limited() ?? [];
    return this.limit === 0 ? above : [this, ...above];
  }

  /** Reserves `tokens`, or as much as is left if that is at least `least`; undefined: refused, nothing changed. */
  reserve(tokens: number, least: number): Reservation | undefined {
    const granted = Math.min(tokens, this.remaining());
    if (granted < Math.min(least, tokens)) return undefined;
    this.#hold(granted);
    return new Reservation(granted, (used) => this.#settle(granted, used));
  }

  #hold(tokens: number): void {
    this.#reserved += tokens;
    if (this.#parent !== null) this.#parent.#hold(tokens);
  }

  #settle(reserved: number, used: number): void {
    this.#reserved -= reserved;
    this.#used += used;
    if (this.#parent !== null) this.#parent.#settle(reserved, used);
  }
}

/** Money set aside. Settled exactly once, by whoever reserved it, on every path. */
export class Reservation {
  readonly tokens: number;
  #settle: ((used: number) => void) | null;

  constructor(tokens: number, settle: (used: number) => void) {
    this.tokens = tokens;
    this.#settle = settle;
  }

  settle(used: number): void {
    const settle = this.#settle;
    this.#settle = null;
    settle?.(used);
  }
}
