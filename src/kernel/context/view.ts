/** The views of a context: pure. Boot, fork, replay and the live kernel make them of the same records with this. */
import type { ContextMove, ContextView, Fold, NumberRange } from "../../abi/context.ts";

interface StackedView extends ContextView {
  /** The messages that there were when one was last left out; absent: the model has seen all as it was written. */
  readonly cut?: number;
}

export interface Views {
  /** Messages so far: the highest number. */
  count: number;
  /** The numbers of the summaries. */
  readonly puts: number[];
  /** The present view is the last one; those before it can be gone back to. */
  readonly stack: StackedView[];
  /** Messages that every view keeps, with what belongs to them. */
  readonly pins: Set<number>;
  /** Moves so far, undone ones and undoings included. */
  moves: number;
}

/** The body of `ctx.move`. */
export type MoveBody =
  | (Omit<ContextMove, "from" | "put"> & {
      /** A summary that becomes the next message; null: none; absent: that of the view before stays. */
      readonly put?: { readonly role: "user"; readonly content: string } | null;
      readonly cid?: number;
    })
  | {
      readonly undo: true;
      /** Estimated tokens; absent: recorded by an earlier version. */
      readonly before?: number;
      readonly after?: number;
      readonly cid?: number;
    };

/** Views that can be undone; the oldest are forgotten. */
const MOST = 64;

const WHOLE: ContextView = { put: null, keep: [], clears: [], tailFrom: 1 };

export function noViews(): Views {
  return { count: 0, puts: [], stack: [WHOLE], pins: new Set(), moves: 0 };
}

export function headOf({ stack }: Views): StackedView {
  return stack.at(-1) ?? WHOLE;
}

/** The numbers of the messages that a view shows, in order. */
export function numbersOf({ count, puts }: Views, view: ContextView): number[] {
  const shown = view.put === null ? [] : [view.put];
  const summaries = new Set(puts);
  const folds = view.folds ?? [];
  let at = 0;
  const foldsBefore = (n: number): void => {
    for (; at < folds.length && (folds[at] as Fold).after < n; at++) shown.push((folds[at] as Fold).n);
  };
  const add = ([first, last]: NumberRange): void => {
    for (let n = first; n <= last; n++) {
      if (summaries.has(n)) continue;
      foldsBefore(n);
      shown.push(n);
    }
  };
  for (const range of view.keep) add(range);
  add([view.tailFrom, count]);
  foldsBefore(Infinity);
  return shown;
}

/** The further summaries after a move, in the order of their places; `n`: the number of a new one. */
export function foldsAfter(
  { folds = [] }: Pick<ContextView, "folds">,
  move: Pick<ContextMove, "folds" | "behind">,
  n?: number,
): readonly Fold[] {
  const stay = folds.filter((fold) => move.folds?.includes(fold.n) ?? true);
  const more = n === undefined || move.behind === undefined ? [] : [{ n, after: move.behind }];
  return [...stay, ...more].sort((a, b) => a.after - b.after || a.n - b.n);
}

/** Changes `views` as the record says. A summary is the next message. */
export function foldMove(views: Views, body: MoveBody): void {
  views.moves++;
  if ("undo" in body) {
    if (views.stack.length > 1) views.stack.pop();
    return;
  }
  const { keep, clears, tailFrom, boundary } = body;
  const before = headOf(views);
  let { put, cut } = before;
  let n: number | undefined;
  if (body.put === null) put = null;
  else if (body.put !== undefined) {
    n = ++views.count;
    views.puts.push(n);
    if (body.behind === undefined) put = n;
  }
  const folds = foldsAfter(before, body, n);
  // nothing was put in words of the model: what it knows, it has seen
  if (boundary.layer !== "micro" && boundary.layer !== "snip") cut = views.count;
  const more = { ...(folds.length === 0 ? {} : { folds }), ...(cut === undefined ? {} : { cut }) };
  views.stack.push({ put, keep, clears, tailFrom, ...more });
  if (views.stack.length > MOST) views.stack.shift();
}

/** The body of `ctx.pin`. */
export interface PinBody {
  readonly n: number;
  /** It is no longer pinned. */
  readonly off?: true;
  readonly cid?: number;
}

export function foldPin({ pins }: Views, { n, off }: PinBody): void {
  if (off === true) pins.delete(n);
  else pins.add(n);
}
