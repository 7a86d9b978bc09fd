/** The transcript, complete and read-only, with search: pure. */
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import type { Size } from "../../cli/screen/top/frame.ts";
import type { Press } from "../editor/keys.ts";
import type { TranscriptEntry } from "../state/model.ts";
import { cutLine, type Line, textOf } from "../text/line.ts";
import { type EntryLook, entryLines } from "./entry-lines.ts";
import type { MessagePlace } from "./pages.ts";

/** An entry, and where its message stands in the history, if that is known. */
export interface Passage {
  readonly entry: TranscriptEntry;
  readonly place: MessagePlace | undefined;
}

interface Start {
  readonly line: number;
  /** The same for the same message, however much stands before it. */
  readonly key: string;
  readonly passage: Passage;
}

export interface Transcript {
  readonly lines: readonly Line[];
  /** The first line on the screen. */
  readonly top: number;
  /** What is looked for; "": nothing. */
  readonly query: string;
  /** The query is being typed. */
  readonly isAsking: boolean;
  /** Where each entry begins. */
  readonly starts: readonly Start[];
}

/** The lines of entries as they were last drawn, at which width. An entry that changes is another one. */
export type Drawn = WeakMap<TranscriptEntry, { readonly width: number; readonly lines: readonly Line[] }>;

/** All of it, as it was drawn before where the width is the same. */
export function linesOf(
  entry: TranscriptEntry,
  { drawn, ...look }: EntryLook & { readonly drawn?: Drawn },
): readonly Line[] {
  const known = drawn?.get(entry);
  if (known?.width === look.width) return known.lines;
  const lines = entryLines(entry, { ...look, isUnfolded: true });
  drawn?.set(entry, { width: look.width, lines });
  return lines;
}

/** Its end is on the screen. `drawn`: a page that is read costs what is new in it, not all that is held. */
export function transcriptOf(
  passages: readonly Passage[],
  look: EntryLook & { readonly drawn?: Drawn },
  { rows }: Size,
): Transcript {
  const lines: Line[] = [];
  const starts: Start[] = [];
  for (const [n, passage] of passages.entries()) {
    const { entry, place } = passage;
    const key = place === undefined ? `${n - passages.length}` : `${place.uuid} ${place.seq} ${entry.kind}`;
    starts.push({ line: lines.length, key, passage });
    lines.push(...linesOf(entry, look));
  }
  return { lines, starts, top: lastTop(lines, rows), query: "", isAsking: false };
}

/** After more was read, or dropped: what is on the screen stays where it is, and so does the search. */
export function kept(before: Transcript, now: Transcript): Transcript {
  const known = new Map(now.starts.map(({ key, line }) => [key, line]));
  const anchor =
    before.starts.findLast(({ key, line }) => line <= before.top && known.has(key)) ??
    before.starts.find(({ key }) => known.has(key));
  const top = anchor === undefined ? now.top : before.top + (known.get(anchor.key) ?? 0) - anchor.line;
  return { ...now, query: before.query, isAsking: before.isAsking, top: Math.max(0, top) };
}

/** The first message that begins on the screen, else the one that fills it. */
export function currentMessage({ starts, top }: Transcript): Passage | undefined {
  const texts = starts.filter(({ passage: { entry } }) => entry.kind === "user" || entry.kind === "text");
  return (texts.find(({ line }) => line >= top) ?? texts.at(-1))?.passage;
}

/** undefined: it is not held. */
export function jumpTo(now: Transcript, { uuid, seq }: MessagePlace): Transcript | undefined {
  const found = now.starts.find(
    ({ passage: { place } }) => place !== undefined && place.uuid === uuid && place.seq === seq,
  );
  return found && { ...now, top: found.line };
}

/** A line with the query before the screen, or after its first line. */
export function hasHit(now: Transcript, where: "above" | "anywhere"): boolean {
  return hitsOf(now.lines, now.query).some((at) => where === "anywhere" || at < now.top);
}

/** undefined: the user left it. */
export function transcriptKey(now: Transcript, press: Press, rows: number): Transcript | undefined {
  const page = Math.max(1, rows - 2);
  if (now.isAsking) return asked(now, press);
  const name = press.kind === "key" ? press.name : press.text;
  switch (name) {
    case "q":
    case "v":
    case "escape":
    case "ctrl+c":
    case "ctrl+o":
      return undefined;
    case "up":
    case "k":
      return moved(now, -1, rows);
    case "down":
    case "j":
      return moved(now, 1, rows);
    case "pageup":
      return moved(now, -page, rows);
    case "pagedown":
    case "space":
    case " ":
      return moved(now, page, rows);
    case "g":
    case "home":
      return moved(now, -now.lines.length, rows);
    case "G":
    case "end":
      return moved(now, now.lines.length, rows);
    case "{":
      return { ...now, top: now.starts.findLast(({ line }) => line < now.top)?.line ?? 0 };
    case "}":
      return { ...now, top: now.starts.find(({ line }) => line > now.top)?.line ?? now.top };
    case "/":
      return { ...now, query: "", isAsking: true };
    case "n":
      return found(now, 1);
    case "N":
      return found(now, -1);
    default:
      return now;
  }
}

/** `title`: of what it is. */
export function transcriptRows(
  { lines, top, query, isAsking }: Transcript,
  { columns, rows }: Size,
  { theme, words, title }: Pick<EntryLook, "theme" | "words"> & { readonly title: string },
): Line[] {
  // a place near the end, as a hit there, stands further down
  const from = Math.min(top, lastTop(lines, rows));
  const shown = lines
    .slice(from, from + rows - 1)
    .map((line) => marked(cutLine(line, columns), query, theme.selection));
  while (shown.length < rows - 1) shown.push([]);
  const hits = query === "" ? 0 : hitsOf(lines, query).length;
  const count = query === "" ? "" : ` · ${words.view.hits(hits, safeLine(query))} · n N`;
  const place = `${Math.min(from + rows - 1, lines.length)}/${lines.length}`;
  const foot = isAsking ? `/${safeLine(query)}` : `  ${title}${place}${count} · ${words.view.transcriptKeys}`;
  return [...shown, cutLine([{ text: foot, style: isAsking ? "" : theme.dim }], columns)];
}

function asked(now: Transcript, press: Press): Transcript {
  if (press.kind !== "key") return { ...now, query: now.query + press.text };
  if (press.name === "enter") return found({ ...now, isAsking: false }, 1);
  if (press.name === "escape" || press.name === "ctrl+c") return { ...now, query: "", isAsking: false };
  if (press.name === "backspace") return { ...now, query: [...now.query].slice(0, -1).join("") };
  return now;
}

function moved(now: Transcript, by: number, rows: number): Transcript {
  const last = lastTop(now.lines, rows);
  return { ...now, top: Math.max(0, Math.min(last, Math.min(last, now.top) + by)) };
}

/** The first line on the screen when the last one is at its end. */
function lastTop({ length }: readonly Line[], rows: number): number {
  return Math.max(0, length - rows + 1);
}

/** The next line with the query, going round. */
function found(now: Transcript, direction: 1 | -1): Transcript {
  const hits = hitsOf(now.lines, now.query);
  if (now.query === "" || hits.length === 0) return now;
  const next = direction > 0 ? hits.find((at) => at > now.top) : hits.findLast((at) => at < now.top);
  return { ...now, top: next ?? (direction > 0 ? hits[0] : hits.at(-1)) ?? now.top };
}

function hitsOf(lines: readonly Line[], query: string): number[] {
  const words = query.toLowerCase();
  return lines.flatMap((line, at) => (textOf(line).toLowerCase().includes(words) ? [at] : []));
}

function marked(line: Line, query: string, style: string): Line {
  if (query === "" || !textOf(line).toLowerCase().includes(query.toLowerCase())) return line;
  return line.map((span) => ({
    text: span.text,
    style: span.style === "" ? style : `${span.style};${style}`,
  }));
}
