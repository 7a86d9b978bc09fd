/** The pattern on a text in memory: for Crux's own files, which ripgrep cannot reach. */
import { messageOf } from "../../abi/errors.ts";
import { findMatching } from "../../lib/find-matching.ts";
import { failure } from "../failure.ts";
import type { FileHits, HitLine } from "./hits.ts";

const MAX_MS = 500;

export interface TextPattern {
  pattern: string;
  literal: boolean;
  ignoreCase: boolean;
  /** Lines around a match. */
  context: number;
}

export function searchText(path: string, text: string, wanted: TextPattern): FileHits {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const isMatch = new Set(matchingLines(lines, wanted));
  const groups: HitLine[][] = [];
  let last = -2;
  for (const at of shownLines(isMatch, wanted.context, lines.length)) {
    const hit = { line: at + 1, isMatch: isMatch.has(at), text: lines[at] ?? "" };
    if (at === last + 1) groups.at(-1)?.push(hit);
    else groups.push([hit]);
    last = at;
  }
  return { path, groups };
}

function matchingLines(lines: readonly string[], wanted: TextPattern): readonly number[] {
  const source = wanted.literal ? wanted.pattern.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&") : wanted.pattern;
  const flags = wanted.ignoreCase ? "i" : "";
  const found = findMatching(compile(source, flags), lines, MAX_MS);
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

function shownLines(matches: ReadonlySet<number>, context: number, total: number): number[] {
  const shown = new Set<number>();
  for (const at of matches) {
    for (let line = Math.max(0, at - context); line <= Math.min(total - 1, at + context); line++)
      shown.add(line);
  }
  return [...shown].sort((a, b) => a - b);
}
