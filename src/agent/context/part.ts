/** A part of a conversation that a summary takes the place of: what comes before a message in view, or after it. Pure. */
import type { ViewPart, ViewState } from "../../abi/context.ts";
import { Fault } from "../../abi/errors.ts";
import { type Fit, pinnedOf, rangesOf, wordsThatFit } from "./fit.ts";
import type { Unit } from "./units.ts";

export interface PartFit extends Fit {
  /** The further summaries that stay. */
  readonly folds: readonly number[];
  /** The message that the summary stands behind; absent: it comes first. */
  readonly behind?: number;
  /** What the summary is made of, and the message in whose view it stays. */
  readonly before: readonly Unit[];
  readonly picked: Unit;
}

/**
 * The view without this part; the message itself, what is pinned, and words of the user stay. NOT_FOUND: the message is not in
 * view. INVALID: there is nothing to summarise on that side.
 */
export function partOf(
  units: readonly Unit[],
  state: ViewState,
  { side, message, room }: ViewPart & { readonly room: number },
): PartFit {
  const at = units.findIndex(({ parts }) => parts.some(({ n }) => n === message));
  const picked = units[at];
  if (picked === undefined)
    throw new Fault({ code: "NOT_FOUND", message: `message ${message} is not in view` });
  const [before, after] = side === "up_to" ? [units.slice(0, at), []] : [units, units.slice(at + 1)];
  const gone = side === "up_to" ? before : after;
  const pinned = new Set(pinnedOf(gone, state));
  const words = wordsThatFit(
    gone.filter((unit) => !pinned.has(unit)),
    room,
  );
  const covered = gone.filter((unit) => !pinned.has(unit) && !words.has(unit));
  if (!covered.some(({ kind }) => kind === "step" || kind === "summary")) {
    const where = side === "up_to" ? "before" : "after";
    throw new Fault({ code: "INVALID", message: `nothing to summarise ${where} message ${message}` });
  }
  const left = new Set(covered);
  const tail = units.filter((unit) => !left.has(unit));
  const lostWords = covered.filter(({ kind }) => kind === "words").length;
  const place = side === "up_to" ? {} : { behind: placeOf(picked, state) };
  return { ...viewOf(tail, state), covered, lostWords, tail, before, picked, ...place };
}

/** The view that shows only these of its units. */
export function viewOf(
  units: readonly Unit[],
  { view, numbers }: ViewState,
): Pick<PartFit, "keep" | "clears" | "tailFrom" | "folds"> {
  const stay = new Set(units.flatMap(({ parts }) => parts.map(({ n }) => n)));
  const summaries = new Set([view.put, ...(view.folds ?? []).map(({ n }) => n)]);
  const lastGone = numbers.findLast((n) => !stay.has(n) && !summaries.has(n)) ?? 0;
  const tailFrom = Math.max(view.tailFrom, lastGone + 1);
  const keep = rangesOf([...stay].filter((n) => n < tailFrom && !summaries.has(n)));
  const clears = view.clears.filter(({ n }) => stay.has(n));
  const folds = [...summaries].flatMap((n) => (n !== null && n !== view.put && stay.has(n) ? [n] : []));
  return { keep, clears, tailFrom, folds };
}

/** Behind a summary is where that summary stands. */
export function placeOf({ parts }: Unit, { view }: ViewState): number {
  const n = parts.at(-1)?.n ?? 0;
  if (n === view.put) return 0;
  return view.folds?.find((fold) => fold.n === n)?.after ?? n;
}
