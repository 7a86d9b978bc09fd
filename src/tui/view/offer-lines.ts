/** Suggestions below the editor. Pure. */
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { padToWidth, widthOf } from "../../cli/screen/text/width.ts";
import type { Line } from "../text/line.ts";
import type { EntryLook } from "./entry-lines.ts";

export interface Offers {
  readonly items: ReadonlyArray<{ readonly name: string; readonly about: string }>;
  readonly at: number;
  /** Before each name. */
  readonly mark: string;
}

const MOST = 6;

export function offerLines({ items, at, mark }: Offers, { theme, words }: EntryLook): readonly Line[] {
  if (items.length === 0) return [];
  const from = Math.max(0, Math.min(at - MOST + 1, items.length - MOST));
  const shown = items.slice(from, from + MOST);
  const columns = Math.min(32, Math.max(...shown.map(({ name }) => widthOf(name))) + mark.length);
  const lines = shown.map(({ name, about }, n): Line => {
    const isChosen = from + n === at;
    const head = padToWidth(`${mark}${safeLine(name)}`, columns);
    return [
      { text: isChosen ? "  ▸ " : "    ", style: theme.accent },
      { text: head, style: isChosen ? theme.accent : "" },
      { text: `  ${safeLine(about)}`, style: theme.dim },
    ];
  });
  const more = items.length - from - shown.length;
  return more > 0 ? [...lines, [{ text: `    ${words.live.more(more)}`, style: theme.dim }]] : lines;
}
