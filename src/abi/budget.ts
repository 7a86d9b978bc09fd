/** The budget of a process and all its descendants, as requested and as shown. */

/** An absent key means no limit. Zero is a limit only for `depth`, `children` and `concurrent`. */
export interface Budget {
  readonly tokens?: number;
  /** US dollars. */
  readonly usd?: number;
  /** Model calls that were answered. */
  readonly steps?: number;
  /** The time in which a process works; time does not count while it is paused, blocked or frozen. */
  readonly wallMs?: number;
  /** The number of levels of agents below it. */
  readonly depth?: number;
  /** The total number of agents started below it. */
  readonly children?: number;
  /** The number of agents below it that run at once. */
  readonly concurrent?: number;
}

/** Amounts in accounts, as whole numbers. A micro-USD is a millionth of a dollar; each call is rounded up to one. */
export interface Amounts {
  readonly tokens: number;
  readonly microUsd: number;
  readonly steps: number;
}

/** A budget in the units of accounts. */
export interface BudgetLimits extends Partial<Amounts>, Omit<Budget, "tokens" | "usd" | "steps"> {}

/** A limit over a rolling time window: at most `limit` in any period of `perMs`. */
export interface BudgetWindow {
  readonly unit: "tokens" | "microUsd";
  readonly limit: number;
  readonly perMs: number;
}

export type BudgetUnit =
  | "tokens"
  | "usd"
  | "steps"
  | "wall"
  | "depth"
  | "children"
  | "concurrent"
  | "queue"
  | "same";

/** The details of a refusal because a budget is exhausted. */
export interface BudgetRefusal {
  /** The process whose limit was reached; 0: the user's own limits. */
  readonly account: number;
  readonly unit: BudgetUnit;
  /** Dollars for `usd`, ms for `wall`. */
  readonly limit: number;
  readonly used: number;
  readonly reserved: number;
  readonly asked: number;
  /** Only for a rolling window: its length in ms, and when enough of it is free again (ISO 8601). */
  readonly window?: number;
  readonly resetsAt?: string;
  readonly retryable: false;
  /** Where the user raises the limit, unless it is that of a process, for which the wire names the command. */
  readonly raise?: string;
}
