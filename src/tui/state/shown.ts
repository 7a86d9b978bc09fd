/**
 * What of a reply is on the screen for good while the rest of it comes: blocks of its text that are over, and what stands before
 * them. It is never taken back, so the reply that takes the place of its preview goes on after it, or says that it begins anew.
 */
import { closedUntil } from "../text/markdown.ts";
import type { Model, TranscriptEntry } from "./model.ts";

/** With all marked as shown that can be; the same model: nothing more. `from`: the first entry that is not on the screen. */
export function shownFurther(model: Model, from: number): Model {
  const { entries, replyFrom } = model;
  const last = entries.at(-1);
  if (replyFrom !== from || last?.kind !== "text" || last.isFinal) return model;
  const before = entries.slice(from, -1);
  if (!before.every(({ kind }) => kind === "text" || kind === "thinking")) return model;
  const { chars = 0, item } = last.shown ?? {};
  const place = closedUntil(last.text.slice(chars), item);
  if (place === undefined) return model;
  const whole = before.map(allShown);
  const part = { ...last, shown: { ...place, chars: chars + place.chars } };
  return { ...model, entries: [...entries.slice(0, from), ...whole, part] };
}

function allShown(entry: TranscriptEntry): TranscriptEntry {
  if (entry.kind !== "text" && entry.kind !== "thinking") return entry;
  return { ...entry, shown: { chars: entry.text.length } };
}

export function isBegun(entries: readonly TranscriptEntry[] = []): boolean {
  return entries.some((entry) => entry.kind === "text" && entry.shown !== undefined);
}

/** The whole reply with what is shown of its preview; undefined: that was another. */
export function carried(
  preview: readonly TranscriptEntry[],
  whole: readonly TranscriptEntry[],
): readonly TranscriptEntry[] | undefined {
  const shown = preview.flatMap((entry) =>
    entry.kind === "text" && entry.shown !== undefined ? [{ ...entry, shown: entry.shown }] : [],
  );
  const marked: TranscriptEntry[] = [];
  for (const entry of whole) {
    const [next] = shown;
    if (next === undefined || entry.kind !== "text") {
      marked.push(next === undefined ? entry : allShown(entry));
      continue;
    }
    if (!entry.text.startsWith(next.text.slice(0, next.shown.chars))) return undefined;
    marked.push({ ...entry, shown: next.shown });
    shown.shift();
  }
  return shown.length === 0 ? marked : undefined;
}

/** What of `after` is shown that was not in `before`, as entries that end there. */
export function newlyShown(before: Model, after: Model): readonly TranscriptEntry[] {
  return after.entries.flatMap((entry, at): TranscriptEntry[] => {
    const old = before.entries[at];
    if (entry === old || (entry.kind !== "text" && entry.kind !== "thinking")) return [];
    const { shown, ...bare } = entry;
    const from = old !== undefined && "shown" in old ? old.shown : undefined;
    if (shown?.chars === from?.chars) return [];
    const text = entry.text.slice(0, shown?.chars);
    return [{ ...bare, text, isFinal: true, ...(from === undefined ? {} : { shown: from }) }];
  });
}
