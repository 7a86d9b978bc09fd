/** How many lines one text has more and less than another. Bounded in time. */
import { diffLines } from "diff";

interface LineCounts {
  readonly insertions: number;
  readonly deletions: number;
}

/** Beyond this two texts have next to nothing in common, and the search for it grows with the square. */
const MAX_EDITS = 2_000;
const MAX_MS = 200;

/** All lines of both where they are too different to be compared in time. */
export function lineCounts(before: string, after: string): LineCounts {
  const parts = diffLines(before, after, { maxEditLength: MAX_EDITS, timeout: MAX_MS });
  if (parts === undefined) return { insertions: lines(after), deletions: lines(before) };
  let [insertions, deletions] = [0, 0];
  for (const { added, removed, count } of parts) {
    if (added) insertions += count;
    if (removed) deletions += count;
  }
  return { insertions, deletions };
}

function lines(text: string): number {
  if (text === "") return 0;
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
