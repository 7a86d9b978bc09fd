/** The transcript, complete and read-only, with search: pure. */
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import type { Size } from "../../cli/screen/top/frame.ts";
import type { Press } from "../editor/keys.ts";
import type { Model } from "../state/model.ts";
import { cutLine, type Line, textOf } from "../text/line.ts";
import { type EntryLook, entryLines } from "./entry-lines.ts";

export interface Transcript {
  readonly lines: readonly Line[];
  /** The first line on the screen. */
  readonly top: number;
  /** What is looked for; "": nothing. */
  readonly query: string;
  /** The query is being typed. */
  readonly isAsking: boolean;
  /** Lines at which an entry begins. */
  readonly starts: readonly number[];
}

export function openTranscript(model: Model, look: EntryLook, { rows }: Size): Transcript {
  const lines: Line[] = [];
  const starts: number[] = [];
  for (const entry of model.entries) {
    starts.push(lines.length);
    lines.push(...entryLines(entry, { ...look, isUnfolded: true }));
  }
  return { lines, starts, top: Math.max(0, lines.length - rows + 1), query: "", isAsking: false };
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
      return { ...now, top: now.starts.findLast((at) => at < now.top) ?? 0 };
    case "}":
      return { ...now, top: now.starts.find((at) => at > now.top) ?? now.top };
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

export function transcriptRows(
  { lines, top, query, isAsking }: Transcript,
  { columns, rows }: Size,
  look: EntryLook,
): Line[] {
  const { theme } = look;
  const shown = lines
    .slice(top, top + rows - 1)
    .map((line) => marked(cutLine(line, columns), query, theme.selection));
  while (shown.length < rows - 1) shown.push([]);
  const hits = query === "" ? 0 : hitsOf(lines, query).length;
  const count =
    query === "" ? "" : ` · ${hits} ${hits === 1 ? "line" : "lines"} with “${safeLine(query)}” · n N`;
  const place = `${Math.min(top + rows - 1, lines.length)}/${lines.length}`;
  const foot = isAsking
    ? `/${safeLine(query)}`
    : `  ${place}${count} · q leave · / search · ↑ ↓ PgUp PgDn g G { }`;
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
  const last = Math.max(0, now.lines.length - rows + 1);
  return { ...now, top: Math.max(0, Math.min(last, now.top + by)) };
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
