/** Messages that leave the view at the user's wish, without a summary: whole steps, and nothing else has to move. Pure. */
import type { ViewState } from "../../abi/context.ts";
import { Fault } from "../../abi/errors.ts";
import { pinnedOf } from "./fit.ts";
import { type PartFit, viewOf } from "./part.ts";
import type { Unit } from "./units.ts";

/** The newest steps stay. */
const KEEP_RECENT = 2;

interface Snipped extends Pick<PartFit, "keep" | "clears" | "tailFrom" | "folds"> {
  /** Estimated tokens. */
  readonly freed: number;
}

/**
 * undefined: all of them have left the view already. NOT_FOUND: there is no such message. INVALID, naming the message: it is pinned,
 * a summary, words of the user, or of the newest steps.
 */
export function snipped(
  units: readonly Unit[],
  state: ViewState,
  messages: readonly number[],
): Snipped | undefined {
  const unknown = messages.find((n) => n > state.records);
  if (unknown !== undefined)
    throw new Fault({ code: "NOT_FOUND", message: `there is no message ${unknown}` });
  const pinned = new Set(pinnedOf(units, state));
  const newest = new Set(units.filter(({ kind }) => kind === "step").slice(-KEEP_RECENT));
  const gone = new Set<Unit>();
  for (const n of messages) {
    const unit = units.find(({ parts }) => parts.some((part) => part.n === n));
    if (unit === undefined) continue;
    const why = pinned.has(unit)
      ? "is pinned"
      : newest.has(unit)
        ? "is of the newest two steps"
        : WHY[unit.kind];
    if (why !== undefined)
      throw new Fault({ code: "INVALID", message: `message ${n} ${why}: it stays in view` });
    gone.add(unit);
  }
  if (gone.size === 0) return undefined;
  const freed = [...gone].reduce((sum, { tokens }) => sum + tokens, 0);
  const left = units.filter((unit) => !gone.has(unit));
  return { ...viewOf(left, state), freed };
}

const WHY: Readonly<Partial<Record<Unit["kind"], string>>> = {
  summary: "is a summary",
  words: "has words of the user",
};
