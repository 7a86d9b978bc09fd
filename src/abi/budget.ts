/** What a process and all below it may use: as it is asked for, and as it is shown. */

/** Each is absent where there is no limit. Zero is a limit only of `depth`, `children` and `concurrent`. */
export interface Budget {
  readonly tokens?: number;
  /** US dollars. */
  readonly usd?: number;
  /** Model calls that were answered. */
  readonly steps?: number;
  /** Time in which a process works: none goes by while it is paused, blocked or frozen. */
  readonly wallMs?: number;
  /** Levels of agents below. */
  readonly depth?: number;
  /** Agents started below, in all. */
  readonly children?: number;
  /** Agents below that run at once. */
  readonly concurrent?: number;
}

/** What flows through accounts, in whole numbers. A micro-USD is a millionth of a dollar; each call is rounded up to one. */
export interface Amounts {
  readonly tokens: number;
  readonly microUsd: number;
  readonly steps: number;
}

/** A budget as accounts keep it. */
export interface BudgetLimits extends Partial<Amounts>, Omit<Budget, "tokens" | "usd" | "steps"> {}

/** A limit over a time that rolls on: so much in any `perMs`. */
export interface BudgetWindow {
  readonly unit: "tokens" | "microUsd";
  readonly limit: number;
  readonly perMs: number;
}

export type BudgetUnit = "tokens" | "usd" | "steps" | "wall" | "depth" | "children" | "concurrent";

/** What a refusal for want of budget says beside its words. */
export interface BudgetRefusal {
  /** The process whose limit it is; 0: the user's. */
  readonly account: number;
  readonly unit: BudgetUnit;
  /** Dollars for `usd`, ms for `wall`. */
  readonly limit: number;
  readonly used: number;
  readonly reserved: number;
  readonly asked: number;
  /** Of a limit over a time: how long that is, ms, and when enough of it is free again (ISO 8601). */
  readonly window?: number;
  readonly resetsAt?: string;
  readonly retryable: false;
  /** Where the user raises it, if not for the process alone; of a process the wire names the command. */
  readonly raise?: string;
}
