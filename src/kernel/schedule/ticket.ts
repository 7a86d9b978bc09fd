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

/** After so long, a ticket counts as interactive. */
const STARVED_MS = 60_000;

/** 0: the first class. */
export function rankOf({ class: name, sinceMs }: Pick<Ticket, "class" | "sinceMs">, nowMs: number): number {
  return nowMs - sinceMs >= STARVED_MS ? 0 : LANE_CLASSES.indexOf(name);
}
