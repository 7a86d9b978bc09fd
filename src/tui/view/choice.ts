/** A list to choose from, with a filter and a preview of the marked row: pure. */
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import type { Size } from "../../cli/screen/top/frame.ts";
import type { Press } from "../editor/keys.ts";
import { cutLine, type Line, wrapped } from "../text/line.ts";
import type { EntryLook } from "./entry-lines.ts";

type Look = Pick<EntryLook, "theme" | "words">;

export interface Choice {
  /** Words that must all occur in a row. */
  readonly filter: string;
  /** The index of the marked row among those that fit; out of range, the nearest is marked. */
  readonly at: number;
}

export const UNFILTERED: Choice = { filter: "", at: 0 };

interface ChoiceRow {
  /** What the filter looks at. */
  readonly words: string;
  readonly text: string;
}

interface ChoiceScene {
  readonly title: string;
  readonly hint: string;
  /** Those that fit. */
  readonly rows: readonly ChoiceRow[];
  /** In place of the rows where there are none. */
  readonly emptyText: string;
  readonly choice: Choice;
  /** Of the marked row; undefined: it is still being read. */
  readonly preview: readonly string[] | undefined;
}

const MOST_PREVIEW = 12;
/** Title, rule and hint, and the rows of the list that always stay. */
const FEWEST_OTHERS = 6;

export function fitting<T extends ChoiceRow>(items: readonly T[], { filter }: Choice): readonly T[] {
  const words = filter.toLowerCase().split(/\s+/);
  return items.filter((item) => {
    const text = item.words.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

export function markedOf<T>(items: readonly T[], { at }: Choice): T | undefined {
  return items[placeOf(at, items.length)];
}

/** undefined: the key means nothing here. */
export function choiceKey(choice: Choice, press: Press, count: number, page: number): Choice | undefined {
  const { filter } = choice;
  const at = placeOf(choice.at, count);
  if (press.kind !== "key") return { filter: filter + press.text, at: 0 };
  switch (press.name) {
    case "up":
      return { filter, at: Math.max(0, at - 1) };
    case "down":
      return { filter, at: placeOf(at + 1, count) };
    case "pageup":
      return { filter, at: Math.max(0, at - page) };
    case "pagedown":
      return { filter, at: placeOf(at + page, count) };
    case "home":
      return { filter, at: 0 };
    case "end":
      return { filter, at: placeOf(count, count) };
    case "space":
      return { filter: `${filter} `, at: 0 };
    case "backspace":
      return { filter: [...filter].slice(0, -1).join(""), at: 0 };
    default:
      return undefined;
  }
}

/** The whole screen: title, list around the marked row, its preview, and the keys. */
export function choiceLines(scene: ChoiceScene, { columns, rows }: Size, look: Look): Line[] {
  const { choice, hint, title } = scene;
  const { theme, words } = look;
  const head: Line[] = [
    [{ text: `  ${title}`, style: theme.accent }],
    choice.filter === ""
      ? [{ text: `  ${words.view.filter}`, style: theme.dim }]
      : [{ text: `  / ${safeLine(choice.filter)}`, style: theme.info }],
  ];
  const below = previewLines(scene, { columns, rows: Math.min(MOST_PREVIEW, rows - FEWEST_OTHERS) }, look);
  const room = Math.max(1, rows - head.length - below.length - 1);
  const list = listLines(scene, room, look);
  const gap: Line[] = Array.from({ length: Math.max(0, room - list.length) }, () => []);
  return [...head, ...list, ...gap, ...below, [{ text: `  ${hint}`, style: theme.dim }]].map((line) =>
    cutLine(line, columns - 1),
  );
}

function listLines({ rows, choice, emptyText }: ChoiceScene, room: number, { theme }: Look): Line[] {
  if (rows.length === 0) return [[{ text: `  ${emptyText}`, style: theme.dim }]];
  const at = placeOf(choice.at, rows.length);
  const first = Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room));
  return rows.slice(first, first + room).map(({ text }, n): Line => {
    const isMarked = first + n === at;
    return [
      { text: isMarked ? "❯ " : "  ", style: theme.accent },
      { text, style: isMarked ? theme.accent : "" },
    ];
  });
}

function previewLines(
  { preview, rows }: ChoiceScene,
  { columns, rows: most }: Size,
  { theme, words }: Look,
): Line[] {
  if (rows.length === 0 || most < 2 || preview?.length === 0) return [];
  const lines = (preview ?? ["…"]).flatMap((text) =>
    wrapped([{ text: `  ${text}`, style: theme.dim }], columns - 1, "  "),
  );
  const shown = lines.length < most ? lines : lines.slice(0, most - 2);
  const more = lines.length - shown.length;
  const rest: Line[] = more === 0 ? [] : [[{ text: `  ${words.live.linesMore(more)}`, style: theme.dim }]];
  return [[{ text: "─".repeat(columns - 1), style: theme.border }], ...shown, ...rest];
}

function placeOf(at: number, count: number): number {
  return Math.max(0, Math.min(at, count - 1));
}
