/**
 * The restart rules of one supervisor: window, backoff and strategy. No effects; time and random numbers are passed in.
 */
import { type ExitStatus, isLost } from "../abi/process.ts";
import type { Backoff, Intensity, Strategy } from "../abi/supervise.ts";
import { backoffMs, rowAfter } from "./backoff.ts";
import { decide, type ExitFacts } from "./decide.ts";
import { planRestart, type RestartPlan, type Sibling } from "./restart-plan.ts";

export interface Rules {
  readonly strategy: Strategy;
  readonly intensity: Intensity;
  readonly backoff: Backoff;
}

/** A child that has exited or failed to start. */
export interface Departure extends Omit<ExitFacts, "budgetLeft"> {
  readonly child: Sibling;
  readonly exit: ExitStatus;
  /** The duration of the run, ms; 0 if it did not start. */
  readonly ranMs: number;
  /** Restarts in a row before this exit. */
  readonly row: number;
}

/** The circumstances of a judgement. */
interface Moment {
  /** In start order. */
  readonly siblings: readonly Sibling[];
  /** The present time, monotonic ms. */
  readonly mono: number;
  /** A random number, 0 … 1, for the jitter. */
  readonly random: number;
}

export type Judgement =
  | { readonly decision: "none" | "drop" | "escalate"; readonly restarts: number }
  | {
      readonly decision: "restart";
      /** Counted restarts within the window, including this one. */
      readonly restarts: number;
      readonly delayMs: number;
      /** Counted restarts in a row, including this one. */
      readonly row: number;
      readonly plan: RestartPlan;
    };

export class RestartPolicy {
  readonly #rules: Rules;
  readonly #window: RestartWindow;

  /** `restarts`: the times of restarts so far, monotonic ms, rising. */
  constructor(rules: Rules, restarts: readonly number[] = []) {
    this.#rules = rules;
    this.#window = new RestartWindow(rules.intensity, restarts);
  }

  /** No restart waits longer. */
  get longestMs(): number {
    const { maxMs, jitter } = this.#rules.backoff;
    return maxMs * (1 + jitter);
  }

  /** Counts the restart it decides on, even if that is cancelled later; but not one after the loss of the daemon. */
  judge(left: Departure, { siblings, mono, random }: Moment): Judgement {
    const facts = { ...left, budgetLeft: this.#window.hasRoom(mono) };
    const decision = decide(left.child.restart, left.exit, facts);
    if (decision !== "restart") return { decision, restarts: this.#window.count(mono) };
    const { strategy, intensity, backoff } = this.#rules;
    const row = rowAfter(left.row, left.ranMs, intensity.windowMs);
    const isCounted = !isLost(left.exit);
    return {
      decision,
      restarts: isCounted ? this.#window.add(mono) : this.#window.count(mono),
      delayMs: backoffMs(backoff, row, random),
      row: isCounted ? row + 1 : row,
      plan: planRestart(strategy, siblings, left.child.id),
    };
  }
}

/** The restarts of one supervisor within a sliding window. Holds at most `maxRestarts` times. */
class RestartWindow {
  readonly #intensity: Intensity;
  /** The times of the restarts, monotonic ms, rising. */
  readonly #times: number[];

  /** `times`: of restarts so far; those before this daemon started are negative. */
  constructor(intensity: Intensity, times: readonly number[] = []) {
    this.#intensity = intensity;
    this.#times = [...times];
  }

  /** Restarts in the last `windowMs`, both ends included. */
  count(now: number): number {
    const oldest = now - this.#intensity.windowMs;
    while ((this.#times[0] ?? oldest) < oldest) this.#times.shift();
    return this.#times.length;
  }

  hasRoom(now: number): boolean {
    return this.count(now) < this.#intensity.maxRestarts;
  }

  /** Adds a restart and returns the count. Call only if `hasRoom`. */
  add(now: number): number {
    this.#times.push(now);
    return this.#times.length;
  }
}
