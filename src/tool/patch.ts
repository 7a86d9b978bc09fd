/** Differences for people: dialogs and user interfaces. Bounded in time and size, so they may be missing. */
import { type StructuredPatchHunk, structuredPatch } from "diff";
import { countLines } from "./text.ts";

export interface Patch {
  additions: number;
  removals: number;
  /** Unified; "" where it would be too large or take too long. */
  text: string;
  hunks: StructuredPatchHunk[];
}

const CONTEXT_LINES = 3;
const MAX_CHARS = 64 * 1024;
/** Beyond these two texts have next to nothing in common, and the search for it grows with the square. */
const MAX_EDITS = 2000;
const MAX_MS = 200;

export function makePatch(name: string, before: string, after: string): Patch {
  const made = structuredPatch(name, name, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MAX_EDITS,
    timeout: MAX_MS,
  });
  if (made === undefined)
    return { additions: countLines(after), removals: countLines(before), text: "", hunks: [] };
  const lines = made.hunks.flatMap((hunk) => hunk.lines);
  const text = made.hunks.map(hunkText).join("");
  const fits = text.length <= MAX_CHARS;
  return {
    additions: lines.filter((line) => line.startsWith("+")).length,
    removals: lines.filter((line) => line.startsWith("-")).length,
    text: fits ? `--- ${name}\n+++ ${name}\n${text}` : "",
    hunks: fits ? made.hunks : [],
  };
}

function hunkText(hunk: StructuredPatchHunk): string {
  const place = `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`;
  return `${[place, ...hunk.lines].join("\n")}\n`;
}

/** A content that results carry along; null where it is over 64 KiB. */
export function inlineContent(content: string): string | null {
  return Buffer.byteLength(content) <= MAX_CHARS ? content : null;
}
