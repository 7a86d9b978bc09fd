/** Diffs for dialogs and user interfaces. Bounded in time and size, so a diff may be missing. */
import { createHash } from "node:crypto";
import { type StructuredPatchHunk, structuredPatch } from "diff";
import type { CallFacts } from "../abi/call-note.ts";
import { countLines, lineEnd } from "./text.ts";

export interface Patch {
  additions: number;
  removals: number;
  /** Unified diff; "" if it would be too large or take too long. */
  text: string;
  hunks: StructuredPatchHunk[];
}

const CONTEXT_LINES = 3;
const MAX_CHARS = 64 * 1024;
/** Beyond this, two texts have almost nothing in common, and the time of the search grows with the square. */
const MAX_EDITS = 2000;
const MAX_MS = 200;

export function makePatch(name: string, before: string, after: string): Patch {
  const window = differing(before, after);
  const made = structuredPatch(name, name, window.before, window.after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
    timeout: MAX_MS,
  });
  if (made === undefined)
    return { additions: countLines(window.after), removals: countLines(window.before), text: "", hunks: [] };
  const hunks = made.hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + window.line,
    newStart: hunk.newStart + window.line,
  }));
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const text = hunks.map(hunkText).join("");
  const fits = text.length <= MAX_CHARS;
  return {
    additions: lines.filter((line) => line.startsWith("+")).length,
    removals: lines.filter((line) => line.startsWith("-")).length,
    text: fits ? `--- ${name}\n+++ ${name}\n${text}`.toWellFormed() : "",
    hunks: fits ? hunks : [],
  };
}

/** A diff with line numbers, for display; a removed line has its number in the old text. "" as in a patch. */
export function numberedDiff(name: string, before: string, after: string): string {
  const { hunks } = makePatch(name, before, after);
  if (hunks.length === 0) return "";
  return `${[`--- ${name}`, `+++ ${name}`, ...hunks.flatMap(numberedLines)].join("\n")}\n`;
}

/** A new file with line numbers, for display. */
export function numberedText(text: string): string {
  const lines = text.replace(/\r?\n$/, "").split("\n");
  const width = String(lines.length).length;
  return `${lines.map((line, at) => `${String(at + 1).padStart(width)} ${line}`).join("\n")}\n`;
}

function numberedLines(hunk: StructuredPatchHunk): string[] {
  let [before, after] = [hunk.oldStart, hunk.newStart];
  const width = String(Math.max(before + hunk.oldLines, after + hunk.newLines)).length;
  const lines = hunk.lines.map((line) => {
    // a remark about the line above
    if (line.startsWith("\\")) return `${" ".repeat(width)} ${line}`;
    const n = line.startsWith("-") ? before : after;
    if (!line.startsWith("+")) before++;
    if (!line.startsWith("-")) after++;
    return `${String(n).padStart(width)} ${line}`;
  });
  return [placeOf(hunk), ...lines];
}

export function patchFacts({ additions: added, removals: removed }: Patch): CallFacts {
  return { added, removed };
}

/** A diff of parts of a file that was not read: their line numbers are unknown and left out. "" as in a patch. */
export function partDiff(name: string, before: string, after: string): string {
  const { hunks } = makePatch(name, before, after);
  if (hunks.length === 0) return "";
  return `--- ${name}\n+++ ${name}\n${hunks.map(({ lines }) => `${["@@", ...lines].join("\n")}\n`).join("")}`;
}

/** Whole lines around the difference, with enough lines of context: the rest of a large file need not be compared. */
function differing(before: string, after: string): { before: string; after: string; line: number } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let tail = 0;
  while (tail < most - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const from = linesBack(before, start);
  const end = (text: string) => linesOn(text, text.length - tail);
  return {
    before: before.slice(from, end(before)),
    after: after.slice(from, end(after)),
    line: countLines(before.slice(0, from)),
  };
}

/** The start of the line that is the context's number of lines before this position. */
function linesBack(text: string, place: number): number {
  let at = place;
  for (let line = 0; line <= CONTEXT_LINES && at > 0; line++) at = text.lastIndexOf("\n", at - 1);
  return at <= 0 ? 0 : at + 1;
}

function linesOn(text: string, place: number): number {
  let at = place;
  for (let line = 0; line <= CONTEXT_LINES + 1 && at < text.length; line++) at = lineEnd(text, at);
  return at;
}

function hunkText(hunk: StructuredPatchHunk): string {
  return `${[placeOf(hunk), ...hunk.lines].join("\n")}\n`;
}

function placeOf({ oldStart, oldLines, newStart, newLines }: StructuredPatchHunk): string {
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
}

/**
 * A content as a field of the result: `<name>_content`, or, over 64 KiB, `<name>_ref`, its digest: the content itself
 * is then in the file history, or in the file.
 */
export function contentFields(name: string, content: string, bytes: Buffer): Record<string, string> {
  if (Buffer.byteLength(content) <= MAX_CHARS) return { [`${name}_content`]: content.toWellFormed() };
  return { [`${name}_ref`]: `sha256:${createHash("sha256").update(bytes).digest("hex")}` };
}

/** The content itself; null if it is over 64 KiB. */
export function inlineContent(content: string): string | null {
  return Buffer.byteLength(content) <= MAX_CHARS ? content.toWellFormed() : null;
}
