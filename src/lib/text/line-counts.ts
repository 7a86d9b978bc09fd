/** Counts the lines inserted and deleted between two texts. Bounded in time. */
import { diffLines } from "diff";

interface LineCounts {
  readonly insertions: number;
  readonly deletions: number;
}

/** Beyond this number two texts have next to nothing in common, and the cost of the comparison is quadratic. */
const MAX_EDITS = 2_000;
const MAX_MS = 200;

/** If the texts are too different to compare in time, all lines of both are counted. */
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
