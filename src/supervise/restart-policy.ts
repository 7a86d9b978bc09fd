/** The rules of one supervisor: its window, its backoff and its strategy, put together. No effects; time and chance are passed in. */
import type { ExitStatus } from "../abi/process.ts";
import type { Backoff, Intensity, Strategy } from "../abi/supervise.ts";
import { backoffMs, rowAfter } from "./backoff.ts";
import { decide, type ExitFacts } from "./decide.ts";
import { planRestart, type RestartPlan, type Sibling } from "./restart-plan.ts";
import { RestartWindow } from "./restart-window.ts";

export interface Rules {
  readonly strategy: Strategy;
  readonly intensity: Intensity;
  readonly backoff: Backoff;
}

/** A child that is no more, or that could not be started. */
export interface Departure extends Omit<ExitFacts, "budgetLeft"> {
  readonly child: Sibling;
  readonly exit: ExitStatus;
  /** 0 for one that did not start. */
  readonly ranMs: number;
  /** Restarts in a row before this exit. */
  readonly row: number;
}

export type Judgement =
  | { readonly decision: "none" | "drop" | "escalate"; readonly restarts: number }
  | {
      readonly decision: "restart";
      /** Within the window, this one included. */
      readonly restarts: number;
      readonly delayMs: number;
      /** Restarts in a row with this one. */
      readonly row: number;
      readonly plan: RestartPlan;
    };

export class RestartPolicy {
  readonly #rules: Rules;
  readonly #window: RestartWindow;

  /** `restarts`: those so far, monotonic ms, rising. */
  constructor(rules: Rules, restarts: readonly number[] = []) {
    this.#rules = rules;
    this.#window = new RestartWindow(rules.intensity, restarts);
  }

  /** `siblings` in start order; `now` monotonic ms. A restart is counted here, whether or not it comes to pass. */
  judge(left: Departure, siblings: readonly Sibling[], now: number, random: number): Judgement {
    const facts = { ...left, budgetLeft: this.#window.hasRoom(now) };
    const decision = decide(left.child.restart, left.exit, facts);
    if (decision !== "restart") return { decision, restarts: this.#window.count(now) };
    const { strategy, intensity, backoff } = this.#rules;
    const row = rowAfter(left.row, left.ranMs, intensity.windowMs);
    return {
      decision,
      restarts: this.#window.add(now),
      delayMs: backoffMs(backoff, row, random),
      row: row + 1,
      plan: planRestart(strategy, siblings, left.child.id),
    };
  }
}
