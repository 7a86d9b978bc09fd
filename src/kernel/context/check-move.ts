/** What the kernel refuses in a proposed view: pure. A layer can propose anything; only a whole conversation is shown. */
import type { ContextMove, ContextView } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { LIMITS } from "../limits.ts";
import { foldsAfter, headOf, numbersOf, type Views } from "./view.ts";

/** The messages of the present view, by number, as they were written. */
type Shown = ReadonlyMap<number, ContextMessage>;

/** The reason why it is refused; undefined: it is a view of whole pairs. */
export function wrongWith(views: Views, shown: Shown, move: ContextMove): string | undefined {
  return (
    wrongRanges(views, move) ??
    wrongFolds(views, shown, move) ??
    wrongClears(views, shown, move) ??
    wrongPairs(views, shown, move) ??
    wrongPins(views, shown, move)
  );
}

/** A summary stands between two steps, never between a call and its result. */
function wrongFolds(views: Views, shown: Shown, move: ContextMove): string | undefined {
  const { behind, put, folds = [] } = move;
  const before = headOf(views);
  const lost = folds.find((n) => before.folds?.every((fold) => fold.n !== n) ?? true);
  if (lost !== undefined) return `message ${lost} is not a summary in view`;
  if (behind !== undefined && (typeof put !== "string" || !Number.isInteger(behind) || behind < 0))
    return "a place without a summary";
  const places = foldsAfter(before, move, views.count + 1);
  if (places.length > LIMITS.viewRanges) return `${places.length} summaries; at most ${LIMITS.viewRanges}`;
  const next = numbersOf(views, bare(move));
  for (const { after } of places) {
    const follows = next.find((n) => n > after);
    if (follows !== undefined && shown.get(follows)?.role === "tool")
      return `a summary behind message ${after} parts a call from its result`;
  }
  return undefined;
}

/** The view without its summaries. */
function bare({ keep, clears, tailFrom }: ContextMove): ContextView {
  return { keep, clears, tailFrom, put: null };
}

/** What is pinned stays, and stays whole. */
function wrongPins(views: Views, shown: Shown, move: ContextMove): string | undefined {
  const kept = new Set(numbersOf(views, bare(move)));
  const before = new Set(headOf(views).clears.map(({ n }) => n));
  const cleared = new Set(move.clears.map(({ n }) => n).filter((n) => !before.has(n)));
  for (const n of views.pins) {
    if (!shown.has(n)) continue;
    if (!kept.has(n) || cleared.has(n)) return `message ${n} is pinned`;
  }
  return undefined;
}

function wrongRanges({ count }: Views, { keep, tailFrom, put, clears }: ContextMove): string | undefined {
  if (!Number.isInteger(tailFrom) || tailFrom < 1 || tailFrom > count + 1)
    return `the tail begins at ${tailFrom}; there are ${count} messages`;
  if (keep.length > LIMITS.viewRanges) return `${keep.length} ranges; at most ${LIMITS.viewRanges}`;
  if (clears.length > LIMITS.viewClears) return `${clears.length} cleared; at most ${LIMITS.viewClears}`;
  if (typeof put === "string" && put.length > LIMITS.messageChars)
    return `a summary of ${put.length} characters; at most ${LIMITS.messageChars}`;
  let next = 1;
  for (const [first, last] of keep) {
    if (!Number.isInteger(first) || !Number.isInteger(last) || first < next || last < first)
      return `the range ${first} to ${last} is out of order`;
    next = last + 1;
  }
  return next > tailFrom ? `the range up to ${next - 1} reaches into the tail from ${tailFrom}` : undefined;
}

/** What was cleared stays cleared: its content is no longer in memory. */
function wrongClears(views: Views, shown: Shown, move: ContextMove): string | undefined {
  const { clears } = move;
  const seen = new Set<number>();
  const before = new Map(headOf(views).clears.map(({ n, keep = 0 }) => [n, keep]));
  for (const { n, keep = 0 } of clears) {
    const message = shown.get(n);
    if (message?.role !== "tool" && !losesPictures(message, { n, keep }, before))
      return `message ${n} is not a tool result in view`;
    if (seen.has(n)) return `message ${n} is cleared twice`;
    if (!Number.isInteger(keep) || keep < 0) return `${keep} characters of message ${n}`;
    if (keep > (before.get(n) ?? keep)) return `message ${n} was cleared before`;
    seen.add(n);
  }
  const kept = new Set(numbersOf(views, bare(move)));
  const back = headOf(views).clears.find(({ n }) => kept.has(n) && !seen.has(n));
  return back === undefined ? undefined : `message ${back.n} was cleared before`;
}

/** Of a message of the user, only its pictures can be cleared: the words stay. */
function losesPictures(
  message: ContextMessage | undefined,
  { n, keep }: { readonly n: number; readonly keep: number },
  before: ReadonlyMap<number, number>,
): boolean {
  if (message?.role !== "user" || keep < message.content.length) return false;
  return message.media !== undefined || before.has(n);
}

/** Every result with its call and every call with its results, and nothing that the present view does not have. */
function wrongPairs(views: Views, shown: Shown, move: ContextMove): string | undefined {
  const old = headOf(views);
  const put = move.put === undefined || move.behind !== undefined ? old.put : null;
  const next = numbersOf(views, { ...bare(move), put, folds: foldsAfter(old, move) });
  const kept = new Set(next);
  const lost = next.find((n) => !shown.has(n));
  if (lost !== undefined) return `message ${lost} is not in the present view`;
  let call = 0;
  for (const [n, { role }] of shown) {
    if (role === "assistant") call = n;
    // a result whose call is nowhere in view belongs to nothing, and may go or stay
    if (role !== "tool" || call === 0) continue;
    if (kept.has(n) !== kept.has(call)) return `message ${n} is the result of a call in message ${call}`;
  }
  return undefined;
}
