/**
 * Budgets as a tree. Before a call is made, it reserves its worst case in its account and all accounts above;
 * afterwards it settles with the actual cost. So each account counts the spending of itself and its descendants, and
 * the reservations of their open calls, and the sum never exceeds a limit, however many calls run at once.
 */
import type { Amounts, BudgetLimits } from "../../abi/budget.ts";
import type { AccountView } from "../../abi/program.ts";
import { abortable } from "../../lib/abort.ts";
import { LateSet } from "../../lib/maps/late.ts";
import type { RecordOwner } from "../ports/journal.ts";
import { FLOWS, type Flow, isLimited, minus, NOTHING, plus, tokensOnly } from "./amounts.ts";
import { type KeptWindow, Window } from "./window.ts";

/** The share of a limited process's remaining budget that its children may use: the rest lets it still report. */
const CHILDREN_SHARE = 0.9;

const DAY_MS = 24 * 3_600_000;

interface AccountOptions {
  /** The process in whose history its use is journalled; absent: its use is not journalled with a process. */
  readonly owner?: RecordOwner | null;
  /** Spent under earlier daemons; the accounts above have counted it already. */
  readonly spent?: Amounts;
  /** Absent: one level below its parent. */
  readonly depth?: number;
  /** Agents started below it so far, in all. */
  readonly children?: number;
  /** Those of the last day, as kept. */
  readonly started?: KeptWindow["buckets"];
  readonly workedMs?: number;
  /** Its limits were changed since its spawn. */
  readonly isGranted?: boolean;
  /** Its own process calls no model, so its children may use all of it. */
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
  /** What the call needs at least. */
  readonly least: number;
  /** The window whose limit is short; absent: the account's own limit. */
  readonly window?: Window;
  /** The price of the call is unknown, and a limit in money applies. */
  readonly isUnpriced?: true;
}

/** `microUsd` null: the price is unknown. */
export type Wanted = Omit<Amounts, "microUsd"> & { readonly microUsd: number | null };

export class Account {
  readonly owner: RecordOwner | null;
  readonly parent: Account | null;
  /** The number of accounts above it, without the user's: 0 for a process that the user started. */
  readonly depth: number;
  readonly work: WorkTime;
  windows: readonly Window[] = [];
  /** Agents started below it so far, in all. */
  children: number;
  /** Of these, those that were started within a day: only where no limit is set for all time. */
  readonly started: Window;
  /** Records its use if it has no owner: for a supervised child, whose account outlives its processes. */
  onUse: ((spent: Amounts) => void) | null = null;
  /** Records its limits, likewise. */
  onLimits: ((limits: BudgetLimits) => void) | null = null;
  /** Its own process calls no model, so its children may use all of it. */
  readonly givesAll: boolean;
  #limits: BudgetLimits;
  #isGranted: boolean;
  #spent: Amounts;
  #reserved: Amounts = NOTHING;
  /** What calls of its own process wait for: closed to its children meanwhile. */
  readonly #awaited = new LateSet<Shortage>();
  /** Resolved at the next settlement; absent: nobody waits for it. */
  #settled: PromiseWithResolvers<void> | undefined;

  constructor(parent: Account | null, limits: BudgetLimits = {}, options: AccountOptions = {}) {
    this.parent = parent;
    this.#limits = limits;
    this.owner = options.owner ?? null;
    this.depth = options.depth ?? (parent === null ? -1 : parent.depth + 1);
    this.children = options.children ?? 0;
    // of what it counts and up to where, the window knows nothing: the spawn guard does
    this.started = new Window({ unit: "tokens", limit: 0, perMs: DAY_MS }, options.started);
    this.work = new WorkTime(options.workedMs ?? 0);
    this.#spent = options.spent ?? NOTHING;
    this.givesAll = options.givesAll ?? false;
    this.#isGranted = options.isGranted ?? false;
  }

  /** Its own limit in tokens; 0: none. */
  get limit(): number {
    return this.#limits.tokens ?? 0;
  }

  get limits(): BudgetLimits {
    return this.#limits;
  }

  /** The user has changed its limits since its spawn. */
  get isGranted(): boolean {
    return this.#isGranted;
  }

  /** Sets new limits. Only for changes by the user. */
  grant(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#isGranted = true;
  }

  get spent(): Amounts {
    return this.#spent;
  }

  /** Without a limit its use is not recorded: the history of its own process says how much it was at least. */
  spentAtLeast(microUsd: number): void {
    if (isLimited(this.#limits) || microUsd <= this.#spent.microUsd) return;
    this.#spent = { ...this.#spent, microUsd };
  }

  get reserved(): Amounts {
    return this.#reserved;
  }

  /** A limit of tokens, money, steps or time, or one per span of time, applies to what it spends. */
  get isBounded(): boolean {
    return this.chain().some(({ windows, limits: { tokens, microUsd, steps, wallMs } }) => {
      const isLimitless = [tokens, microUsd, steps, wallMs].every((limit) => limit === undefined);
      return windows.length > 0 || !isLimitless;
    });
  }

  /** Limit, use and reservations in tokens. */
  view(): AccountView {
    return { limit: this.limit, used: this.#spent.tokens, reserved: this.#reserved.tokens };
  }

  /** Tokens that a call of its own can still reserve; Infinity without any limit. */
  remaining(now = 0): number {
    return this.headroom("tokens", now);
  }

  /** Whether this is the account of an agent without an agent above it. */
  get isTop(): boolean {
    return !this.givesAll && this.chain().every((above) => above === this || above.givesAll);
  }

  /** This account and those above it, nearest first. */
  chain(): readonly Account[] {
    return this.parent === null ? [this] : [this, ...this.parent.chain()];
  }

  /** The accounts of the chain that have limits, windows not counted. */
  limited(): readonly Account[] {
    return this.chain().filter(({ limits }) => isLimited(limits));
  }

  /** What a call of its own can still reserve within all limits of the chain. `now`: wall clock, ms. */
  headroom(unit: Flow, now: number): number {
    return Math.min(...this.chain().map((account) => account.#room(unit, account === this, now)));
  }

  /**
   * Reserves the wanted amounts, or as much of each as is left if that is at least `least`. Otherwise nothing is
   * reserved, and the shortage of the nearest account is returned.
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

  /**
   * Whether a call of its own process lacks only what open calls below it hold: their settlement may give that back. Not at a
   * limit of a span of time.
   */
  isHeldBelow({ account, unit, limit, used, reserved, least, window, isUnpriced }: Shortage): boolean {
    const isOwn = account === this && window === undefined && isUnpriced !== true;
    return isOwn && reserved > 0 && this.#limits[unit] !== undefined && limit - used >= least;
  }

  /** Resolves at the next settlement, until which its children reserve nothing of what its own call needs. */
  async nextSettlement(shortage: Shortage, signal: AbortSignal): Promise<void> {
    this.#awaited.add(shortage);
    this.#settled ??= Promise.withResolvers();
    try {
      await abortable(this.#settled.promise, signal);
    } finally {
      this.#awaited.delete(shortage);
    }
  }

  /** Adds use that was not reserved here, as found after a crash. */
  charge(used: Amounts, now: number): void {
    this.#settle(NOTHING, used, now);
  }

  /** What is left in this account alone, for the process itself (`isOwn`) or for a child. */
  #room(unit: Flow, isOwn: boolean, now: number): number {
    const spent = this.#spent[unit];
    const awaited = isOwn ? [] : [...this.#awaited].filter((each) => each.unit === unit);
    const reserved = this.#reserved[unit] + Math.max(0, ...awaited.map(({ least }) => least));
    const limit = this.#limits[unit];
    const share = isOwn || this.givesAll ? 1 : CHILDREN_SHARE;
    const left = limit === undefined ? Infinity : Math.floor(share * (limit - spent)) - reserved;
    const windows = this.windows.filter((window) => window.unit === unit);
    return Math.min(left, ...windows.map((window) => window.limit - window.spent(now) - reserved));
  }

  #unpriced(now: number): Shortage | undefined {
    const account = this.chain().find((each) => each.#room("microUsd", true, now) !== Infinity);
    return account === undefined
      ? undefined
      : { ...account.#short("microUsd", { least: 0, asked: 0 }, now), isUnpriced: true };
  }

  #shortage(unit: Flow, least: number, wanted: number, now: number): Shortage {
    const account =
      this.chain().find((each) => each.#room(unit, each === this, now) < Math.max(least, 0)) ?? this;
    return account.#short(unit, { least, asked: wanted }, now);
  }

  #short(unit: Flow, { least, asked }: Pick<Shortage, "least" | "asked">, now: number): Shortage {
    const reserved = this.#reserved[unit];
    const limit = this.#limits[unit];
    const window = this.windows.find(
      (each) => each.unit === unit && each.limit - each.spent(now) - reserved < Math.max(asked, 1),
    );
    const isOwn = limit !== undefined && limit - this.#spent[unit] - reserved < Math.max(asked, 1);
    const short = { account: this, unit, reserved, asked, least };
    if (window !== undefined && !isOwn)
      return { ...short, limit: window.limit, used: window.spent(now), window };
    return { ...short, limit: limit ?? 0, used: this.#spent[unit] };
  }

  #hold(amounts: Amounts): void {
    for (const account of this.chain()) account.#reserved = plus(account.#reserved, amounts);
  }

  #settle(reserved: Amounts, used: Amounts, now: number): void {
    for (const account of this.chain()) {
      account.#reserved = minus(account.#reserved, reserved);
      account.#spent = plus(account.#spent, used);
      for (const window of account.windows) window.spend(used[window.unit], now);
      account.#settled?.resolve();
      account.#settled = undefined;
    }
  }
}

/** Whether no limit and no window of the chain bounds what is spent: then no use that is lost lets a limit be overrun. */
export function isUnlimited(account: Account): boolean {
  return account
    .chain()
    .every(
      ({ limits, windows }) => windows.length === 0 && FLOWS.every((unit) => limits[unit] === undefined),
    );
}

/** A reserved amount. The caller that reserved it must settle it on every path; only the first settlement counts. */
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

/**
 * The time in which at least one process of an account works. It stands still while all of them are paused, blocked, or
 * wait for the user. Monotonic clock.
 */
class WorkTime {
  readonly #working = new LateSet<object>();
  #beforeMs: number;
  #since = 0;

  constructor(beforeMs: number) {
    this.#beforeMs = beforeMs;
  }

  get isRunning(): boolean {
    return this.#working.size > 0;
  }

  ms(mono: number): number {
    return this.#beforeMs + (this.isRunning ? mono - this.#since : 0);
  }

  /** Idempotent. */
  begin(who: object, mono: number): void {
    if (!this.isRunning) this.#since = mono;
    this.#working.add(who);
  }

  /** Idempotent. */
  end(who: object, mono: number): void {
    const ms = this.ms(mono);
    this.#working.delete(who);
    if (!this.isRunning) this.#beforeMs = ms;
  }

  /** Raises the total to at least `ms`, known from another source. */
  atLeast(ms: number): void {
    this.#beforeMs = Math.max(this.#beforeMs, ms);
  }
}
