/** Matches the pattern against a text in memory: for Crux's own files, which ripgrep cannot reach. */
import { messageOf } from "../../abi/errors.ts";
import { findPlaces } from "../../lib/text/find-matching.ts";
import { failure } from "../failure.ts";
import type { FileHits, HitLine } from "./hits.ts";

const MAX_MS = 500;
/** For a longer line, a window around its match is shown, with `LEAD_CHARS` before the match. */
const MAX_LINE_CHARS = 2_000;
const LEAD_CHARS = 200;

export interface TextPattern {
  pattern: string;
  literal: boolean;
  ignoreCase: boolean;
  /** Lines of context around a match. */
  context: number;
}

export function searchText(path: string, text: string, wanted: TextPattern): FileHits {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const matches = new Map(matchingLines(lines, wanted));
  const groups: HitLine[][] = [];
  let last = -2;
  for (const at of shownLines(matches.keys(), wanted.context, lines.length)) {
    const text = windowOf(lines[at] ?? "", matches.get(at) ?? 0);
    const hit = { line: at + 1, isMatch: matches.has(at), text };
    if (at === last + 1) groups.at(-1)?.push(hit);
    else groups.push([hit]);
    last = at;
  }
  return { path, groups };
}

function matchingLines(
  lines: readonly string[],
  wanted: TextPattern,
): readonly (readonly [number, number])[] {
  const source = wanted.literal ? wanted.pattern.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&") : wanted.pattern;
  const flags = wanted.ignoreCase ? "i" : "";
  const found = findPlaces(compile(source, flags), lines, MAX_MS);
  if (found !== null) return found;
  throw failure("TIMEOUT", "the pattern takes too long on this text", "Simplify it, or use literal: true");
}

function compile(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw failure("INVALID", messageOf(error), "To search for the text itself use literal: true");
  }
}

function windowOf(line: string, matchAt: number): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const start = matchAt < MAX_LINE_CHARS - LEAD_CHARS ? 0 : matchAt - LEAD_CHARS;
  const end = start + MAX_LINE_CHARS;
  const text = line.slice(start, end).toWellFormed();
  return `${start === 0 ? "" : "…"}${text}${end < line.length ? "…" : ""}`;
}

function shownLines(matches: Iterable<number>, context: number, total: number): number[] {
  const shown = new Set<number>();
  for (const at of matches) {
    for (let line = Math.max(0, at - context); line <= Math.min(total - 1, at + context); line++)
      shown.add(line);
  }
  return [...shown].sort((a, b) => a - b);
}
