/** Which siblings are restarted together with a child, by strategy. Pure. */
import type { Restart, Strategy } from "../abi/supervise.ts";

export interface Sibling {
  readonly id: string;
  readonly restart: Restart;
  /** It runs, or waits to be restarted. Stopped and done siblings stay as they are. */
  readonly isUp: boolean;
}

export interface RestartPlan {
  /** Ids to shut down, in this order: the reverse of the start order. */
  readonly stop: readonly string[];
  /** The part of `stop` that is not started again. */
  readonly drop: readonly string[];
  /** Ids to start, in this order. */
  readonly start: readonly string[];
}

/** `siblings` in start order; `exited` is one of them and is restarted. */
export function planRestart(strategy: Strategy, siblings: readonly Sibling[], exited: string): RestartPlan {
  const taken = affected(strategy, siblings, exited).filter(({ id, isUp }) => isUp || id === exited);
  const others = taken.filter(({ id }) => id !== exited);
  const dropped = new Set(others.filter(({ restart }) => restart === "temporary").map(({ id }) => id));
  return {
    stop: others.map(({ id }) => id).reverse(),
    drop: [...dropped],
    start: taken.map(({ id }) => id).filter((id) => !dropped.has(id)),
  };
}

function affected(strategy: Strategy, siblings: readonly Sibling[], exited: string): readonly Sibling[] {
  switch (strategy) {
    case "one_for_one":
      return siblings.filter(({ id }) => id === exited);
    case "one_for_all":
      return siblings;
    case "rest_for_one":
      return siblings.slice(siblings.findIndex(({ id }) => id === exited));
  }
}
