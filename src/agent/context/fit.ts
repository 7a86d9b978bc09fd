/**
 * The largest end of a conversation that fits into a number of tokens: whole steps, the newest first, and before them
 * the words of the user. The newest step always stays; if it alone is too long, its results are shortened. Pure.
 */
import type { ClearedResult, NumberRange, ViewState } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { mediaTokens } from "../../lib/tokens/media.ts";
import { messageTokens } from "../../lib/tokens/message.ts";
import { levelOf } from "../tools/turn-budget.ts";
import type { Numbered, Unit } from "./units.ts";

export interface Room {
  /** Estimated tokens for the tail, and for the words of the user before it. */
  readonly tail: number;
  readonly words: number;
}

export interface Fit {
  readonly keep: readonly NumberRange[];
  readonly clears: readonly ClearedResult[];
  readonly tailFrom: number;
  /** What the view would no longer show; the words that stay are not among it. */
  readonly covered: readonly Unit[];
  /** Words of the user that leave the view. */
  readonly lostWords: number;
  readonly tail: readonly Unit[];
}

/** A shortened result has at least this many tokens, or is cleared. */
const LEAST = 100;

export function newestThatFit(units: readonly Unit[], state: ViewState, room: Room): Fit {
  const { view, records } = state;
  const from = tailAt(units, room.tail);
  const tail = units.slice(from);
  const before = units.slice(0, from);
  const pinned = new Set(pinnedOf(units, state));
  const others = before.filter((unit) => !pinned.has(unit));
  const kept = new Set([...pinned, ...wordsThatFit(others, room.words)]);
  const covered = before.filter((unit) => !kept.has(unit));
  const numbers = before.filter((unit) => kept.has(unit)).flatMap(({ parts }) => parts.map(({ n }) => n));
  const tailFrom = tail[0]?.parts[0]?.n ?? records + 1;
  const clears = mergedClears(view.clears, shortened(tail, { room: room.tail, pinned }), {
    numbers,
    tailFrom,
  });
  const lostWords = covered.filter(({ kind }) => kind === "words").length;
  return { keep: rangesOf(numbers), clears, tailFrom, covered, lostWords, tail };
}

/** The units that every view keeps. */
export function pinnedOf(units: readonly Unit[], { pins }: Pick<ViewState, "pins">): readonly Unit[] {
  const numbers = new Set(pins);
  return units.filter(({ parts }) => parts.some(({ n }) => numbers.has(n)));
}

/** The view without the images and documents before its last two steps. undefined: there are none. */
export function withoutPictures(
  units: readonly Unit[],
  { view, pins }: ViewState,
): { readonly clears: readonly ClearedResult[]; readonly freed: number } | undefined {
  const second = units.findLastIndex((unit) => unit.kind === "step" && unit !== lastStep(units));
  const shown = units
    .slice(0, Math.max(0, second))
    .flatMap(({ parts }) => parts)
    .filter(({ n, message }) => message.media !== undefined && !pins.includes(n));
  if (shown.length === 0) return undefined;
  const gone = shown.map(({ n, message }) => ({ n, keep: message.content.length }));
  const freed = shown.reduce((sum, { message }) => sum + mediaTokens(message.media ?? []), 0);
  return { clears: [...view.clears, ...gone].sort((a, b) => a.n - b.n), freed };
}

function lastStep(units: readonly Unit[]): Unit | undefined {
  return units.findLast(({ kind }) => kind === "step");
}

/** Where the tail begins: at the newest step at the latest, or at the message that is not answered yet. */
function tailAt(units: readonly Unit[], room: number): number {
  let at = units.length;
  let tokens = 0;
  for (let i = units.length - 1; i >= 0; i--) {
    const unit = units[i] as Unit;
    if (unit.kind === "summary") break;
    tokens += unit.tokens;
    const isNeeded = at === units.length || !hasWork(units.slice(at));
    if (tokens > room && !isNeeded) break;
    at = i;
  }
  return at;
}

/** Whether these hold a step with results, or words that no reply follows: enough to go on from. */
function hasWork(tail: readonly Unit[]): boolean {
  if (tail.some(({ kind, parts }) => kind === "step" && parts.length > 1)) return true;
  return tail.some(({ kind }) => kind === "words") && !tail.some(({ kind }) => kind === "step");
}

/** The first words, then the newest ones. */
export function wordsThatFit(units: readonly Unit[], room: number): ReadonlySet<Unit> {
  const words = units.filter(({ kind }) => kind === "words");
  const kept = new Set<Unit>();
  let left = room;
  for (const unit of [...words.slice(0, 1), ...words.slice(1).reverse()]) {
    if (unit.tokens > left) continue;
    left -= unit.tokens;
    kept.add(unit);
  }
  return kept;
}

/** Shortens the longest results of the tail until it fits. */
function shortened(
  tail: readonly Unit[],
  { room, pinned }: { readonly room: number; readonly pinned: ReadonlySet<Unit> },
): readonly ClearedResult[] {
  const results = tail
    .filter((unit) => !pinned.has(unit))
    .flatMap(({ parts }) => parts.filter(({ message }) => message.role === "tool"));
  const total = tail.reduce((sum, { tokens }) => sum + tokens, 0);
  if (total <= room) return [];
  const others = total - results.reduce((sum, { tokens }) => sum + tokens, 0);
  const level = levelOf(
    results.map(({ tokens }) => tokens),
    Math.max(0, room - others),
  );
  return results.flatMap((result) => (result.tokens <= level ? [] : [cutTo(level, result)]));
}

function cutTo(level: number, { n, tokens, message }: Numbered): ClearedResult {
  if (level < LEAST) return { n };
  return { n, keep: Math.floor((message.content.length * level) / tokens) };
}

/** Results that are cleared stay so, and are never given more again. */
function mergedClears(
  present: readonly ClearedResult[],
  more: readonly ClearedResult[],
  { numbers, tailFrom }: { readonly numbers: readonly number[]; readonly tailFrom: number },
): readonly ClearedResult[] {
  const kept = new Set(numbers);
  const clears = new Map(
    present.filter(({ n }) => n >= tailFrom || kept.has(n)).map((each) => [each.n, each]),
  );
  for (const each of more) {
    const before = clears.get(each.n);
    if (before === undefined || (before.keep ?? 0) > (each.keep ?? 0)) clears.set(each.n, each);
  }
  return [...clears.values()].sort((a, b) => a.n - b.n);
}

export function rangesOf(numbers: readonly number[]): NumberRange[] {
  const ranges: [number, number][] = [];
  for (const n of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === n) last[1] = n;
    else ranges.push([n, n]);
  }
  return ranges;
}

export function tokensOf(units: readonly Unit[]): number {
  return units.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The messages that a view shows, without its summary; shortened results are shortened as the kernel does, about. */
export function shownIn(units: readonly Unit[], { covered, clears }: Fit): readonly ContextMessage[] {
  const [gone, cut] = [new Set(covered), new Map(clears.map(({ n, keep = 0 }) => [n, keep]))];
  const shown = units.filter((unit) => !gone.has(unit) || unit.kind === "summary");
  return shown.flatMap(({ parts }) =>
    parts.map(({ n, message }) => {
      const keep = cut.get(n);
      if (keep === undefined || message.content.length <= keep) return message;
      const { media: _media, ...words } = message;
      return { ...words, content: `${message.content.slice(0, keep).toWellFormed()}\n[cut]` };
    }),
  );
}

export function shownTokens(units: readonly Unit[], next: Fit): number {
  const gone = new Set(next.covered);
  const words = shownIn(
    units.filter((unit) => !gone.has(unit)),
    next,
  );
  return words.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** The message with a word for each of its images and documents. */
export function withoutMedia({ media = [], ...message }: ContextMessage): ContextMessage {
  const words = media.map(({ type }) => `[${type}]`);
  return { ...message, content: [message.content, ...words].filter((text) => text !== "").join("\n") };
}
