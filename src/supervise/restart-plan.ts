/** Whom the restart of one child takes along, by strategy. Pure. */
import type { Restart, Strategy } from "../abi/supervise.ts";

export interface Sibling {
  readonly id: string;
  readonly restart: Restart;
  /** It runs, or waits to be restarted. Those that were stopped or are done stay as they are. */
  readonly isUp: boolean;
}

export interface RestartPlan {
  /** To be shut down, in this order: the reverse of the start. */
  readonly stop: readonly string[];
  /** Of those, the ones that do not come back. */
  readonly drop: readonly string[];
  /** To be started, in this order. */
  readonly start: readonly string[];
}

/** `siblings` in start order; `exited` is one of them and comes back. */
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
