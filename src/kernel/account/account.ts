/**
 * Budgets as a tree. A call reserves its worst case up the whole tree before it is made and settles with what it cost; so at
 * every node what is spent is its own and its children's, what is reserved is the open calls below it, and both together
 * never pass a limit, however many calls run at once.
 */
import type { Amounts, BudgetLimits } from "../../abi/budget.ts";
import type { AccountView } from "../../abi/program.ts";
import type { RecordOwner } from "../ports/journal.ts";
import { FLOWS, type Flow, isLimited, minus, NOTHING, plus, tokensOnly } from "./amounts.ts";
import type { Window } from "./window.ts";
import { WorkTime } from "./work-time.ts";

/** Of what is left to a process that has a limit, its children leave it a tenth: so it can still report. */
const CHILDREN_SHARE = 0.9;

interface AccountOptions {
  /** In whose history its use is kept; absent: it ends with the daemon. */
  readonly owner?: RecordOwner | null;
  /** By an earlier daemon; those above have counted it already. */
  readonly spent?: Amounts;
  /** Absent: one level below its parent. */
  readonly depth?: number;
  /** Agents started below it so far. */
  readonly children?: number;
  readonly workedMs?: number;
  /** Its limits are others than at its spawn. */
  readonly isGranted?: boolean;
  /** Its own process calls no model: its children may use all of it. */
  readonly givesAll?: boolean;
}

/** Why a call cannot be paid. */
export interface Shortage {
  readonly account: Account;
  readonly unit: Flow;
  readonly limit: number;
  readonly used: number;
  readonly reserved: number;
  readonly asked: number;
  /** It is that of a window. */
  readonly window?: Window;
  /** The price of the call is not known, and there is a limit in money. */
  readonly isUnpriced?: true;
}

/** `microUsd` null: the price is not known. */
export type Wanted = Omit<Amounts, "microUsd"> & { readonly microUsd: number | null };

export class Account {
  readonly owner: RecordOwner | null;
  readonly parent: Account | null;
  /** Of agents above it: 0 for one that a person started. */
  readonly depth: number;
  readonly work: WorkTime;
  windows: readonly Window[] = [];
  /** Agents started below it, in all. */
  children: number;
  /** Keeps its use where it has no owner: of a supervised child, whose account outlives its processes. */
  onUse: ((spent: Amounts) => void) | null = null;
  /** The same for its limits. */
  onLimits: ((limits: BudgetLimits) => void) | null = null;
  /** Its own process calls no model: its children may use all of it. */
  readonly givesAll: boolean;
  #limits: BudgetLimits;
  #isGranted: boolean;
  #spent: Amounts;
  #reserved: Amounts = NOTHING;

  constructor(parent: Account | null, limits: BudgetLimits = {}, options: AccountOptions = {}) {
    this.parent = parent;
    this.#limits = limits;
    this.owner = options.owner ?? null;
    this.depth = options.depth ?? (parent === null ? -1 : parent.depth + 1);
    this.children = options.children ?? 0;
    this.work = new WorkTime(options.workedMs ?? 0);
    this.#spent = options.spent ?? NOTHING;
    this.givesAll = options.givesAll ?? false;
    this.#isGranted = options.isGranted ?? false;
  }

  /** Tokens; 0: none of its own. */
  get limit(): number {
    return this.#limits.tokens ?? 0;
  }

  get limits(): BudgetLimits {
    return this.#limits;
  }

  /** Others than at its spawn: a person said so. */
  get isGranted(): boolean {
    return this.#isGranted;
  }

  /** Only a person's word. */
  grant(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#isGranted = true;
  }

  get spent(): Amounts {
    return this.#spent;
  }

  get reserved(): Amounts {
    return this.#reserved;
  }

  /** In tokens. */
  view(): AccountView {
    return { limit: this.limit, used: this.#spent.tokens, reserved: this.#reserved.tokens };
  }

  /** Tokens that a call of its own can still get; Infinity without any limit. */
  remaining(now = 0): number {
    return this.headroom("tokens", now);
  }

  /** That of an agent with no agent above it. */
  get isTop(): boolean {
    return !this.givesAll && this.chain().every((above) => above === this || above.givesAll);
  }

  /** Itself and those above it, nearest first. */
  chain(): readonly Account[] {
    return this.parent === null ? [this] : [this, ...this.parent.chain()];
  }

  /** Those of the chain that have a limit, windows left out. */
  limited(): readonly Account[] {
    return this.chain().filter(({ limits }) => isLimited(limits));
  }

  /** What a call of its own can still get, over all that are above it too. `now`: wall clock, ms. */
  headroom(unit: Flow, now: number): number {
    return Math.min(...this.chain().map((account) => account.#room(unit, account === this, now)));
  }

  /**
   * Reserves what is wanted, or of tokens and money as much as is left if that is at least `least`; else nothing has changed,
   * and what is short is that of the nearest account.
   */
  reserve(wanted: Wanted, least: Amounts, now: number): Reservation | Shortage {
    const granted: { -readonly [U in Flow]: number } = { ...NOTHING };
    for (const unit of FLOWS) {
      const want = wanted[unit];
      if (want === null) {
        const shortage = this.#unpriced(now);
        if (shortage !== undefined) return shortage;
        continue;
      }
      if (want <= 0) continue;
      granted[unit] = Math.min(want, this.headroom(unit, now));
      const asked = Math.min(least[unit], want);
      if (granted[unit] < asked || granted[unit] < 0) return this.#shortage(unit, asked, want, now);
    }
    this.#hold(granted);
    return new Reservation(granted, (used, at) => this.#settle(granted, used, at));
  }

  /** What was spent without having been reserved here: known only after a crash. */
  charge(used: Amounts, now: number): void {
    this.#settle(NOTHING, used, now);
  }

  /** What is left here alone: to itself, or to a child. */
  #room(unit: Flow, isOwn: boolean, now: number): number {
    const [spent, reserved] = [this.#spent[unit], this.#reserved[unit]];
    const limit = this.#limits[unit];
    const share = isOwn || this.givesAll ? 1 : CHILDREN_SHARE;
    const left = limit === undefined ? Infinity : Math.floor(share * (limit - spent)) - reserved;
    const windows = this.windows.filter((window) => window.unit === unit);
    return Math.min(left, ...windows.map((window) => window.limit - window.spent(now) - reserved));
  }

  #unpriced(now: number): Shortage | undefined {
    const account = this.chain().find((each) => each.#room("microUsd", true, now) !== Infinity);
    return account === undefined ? undefined : { ...account.#short("microUsd", 0, now), isUnpriced: true };
  }

  #shortage(unit: Flow, least: number, wanted: number, now: number): Shortage {
    const account =
      this.chain().find((each) => each.#room(unit, each === this, now) < Math.max(least, 0)) ?? this;
    return account.#short(unit, wanted, now);
  }

  #short(unit: Flow, asked: number, now: number): Shortage {
    const reserved = this.#reserved[unit];
    const limit = this.#limits[unit];
    const window = this.windows.find(
      (each) => each.unit === unit && each.limit - each.spent(now) - reserved < Math.max(asked, 1),
    );
    const isOwn = limit !== undefined && limit - this.#spent[unit] - reserved < Math.max(asked, 1);
    if (window !== undefined && !isOwn)
      return { account: this, unit, limit: window.limit, used: window.spent(now), reserved, asked, window };
    return { account: this, unit, limit: limit ?? 0, used: this.#spent[unit], reserved, asked };
  }

  #hold(amounts: Amounts): void {
    for (const account of this.chain()) account.#reserved = plus(account.#reserved, amounts);
  }

  #settle(reserved: Amounts, used: Amounts, now: number): void {
    for (const account of this.chain()) {
      account.#reserved = minus(account.#reserved, reserved);
      account.#spent = plus(account.#spent, used);
      for (const window of account.windows) window.spend(used[window.unit], now);
    }
  }
}

/** Set aside. Settled exactly once, by whoever reserved it, on every path. */
export class Reservation {
  readonly amounts: Amounts;
  #settle: ((used: Amounts, now: number) => void) | null;

  constructor(amounts: Amounts, settle: (used: Amounts, now: number) => void) {
    this.amounts = amounts;
    this.#settle = settle;
  }

  get tokens(): number {
    return this.amounts.tokens;
  }

  /** `now`: wall clock, ms, for windows. */
  settle(used: Amounts | number, now = 0): void {
    const settle = this.#settle;
    this.#settle = null;
    settle?.(typeof used === "number" ? tokensOnly(used) : used, now);
  }
}
