/** What the lanes order: an attempt that waits, and the class it counts in. */
import { LANE_CLASSES, type LaneClass } from "../../abi/lanes.ts";
import type { Claimant } from "./virtual-time.ts";

/** An attempt that waits for a slot. */
export interface Ticket extends Claimant {
  /** Monotonic; kept by an attempt that was refused and comes again. */
  readonly sinceMs: number;
  /** Rises; the order of tickets of one moment. */
  readonly order: number;
  readonly class: LaneClass;
  /** Estimated tokens of input, and the most tokens of output. */
  readonly input: number;
  readonly output: number;
}

/** After so long, a ticket comes before all but those that a user waits for. */
const STARVED_MS = 60_000;

/**
 * The order of tickets: interactive ones, those that have starved, then the other classes. Many may starve at once, where
 * more agents work than their account lets through; a user who writes to one more does not wait behind them.
 */
const RANKS = { interactive: 0, foreground: 2, background: 3 } as const satisfies Record<LaneClass, number>;
const STARVED = 1;

export const RANK_COUNT = LANE_CLASSES.length + 1;

/** 0: first. */
export function rankOf({ class: name, sinceMs }: Pick<Ticket, "class" | "sinceMs">, nowMs: number): number {
  return nowMs - sinceMs >= STARVED_MS ? Math.min(RANKS[name], STARVED) : RANKS[name];
}
