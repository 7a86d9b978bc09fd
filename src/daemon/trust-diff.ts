/** What has changed between two texts, as a person reads it. Bounded in time and length. */
import { structuredPatch } from "diff";

const MAX_CHARS = 16 * 1024;
const MAX_EDITS = 2000;
const MAX_MS = 200;

/** Hunks of a unified diff, without its head. */
export function changeOf(before: string, after: string): string {
  const limits = { context: 2, maxEditLength: MAX_EDITS, timeout: MAX_MS };
  const patch = structuredPatch("", "", before, after, "", "", limits);
  if (patch === undefined) return "too different to be compared";
  const text = patch.hunks
    .map((hunk) => `@@ -${hunk.oldStart} +${hunk.newStart} @@\n${hunk.lines.join("\n")}`)
    .join("\n");
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}\n… and more`;
}
