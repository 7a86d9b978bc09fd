import type { WireSession } from "../../abi/methods/session.ts";
import { age, titleCell } from "./table/session-table.ts";
import { aligned } from "./table/table.ts";
import { safeLine } from "./text/safe-text.ts";
import { cutToWidth, padToWidth } from "./text/width.ts";

export interface Picking {
  readonly sessions: readonly WireSession[];
  /** Words that must all occur in the title, the pid or the folder. */
  readonly filter: string;
  /** The index of the marked one among the matches; out of range, the nearest is marked. */
  readonly at: number;
}

const TITLE_COLUMNS = 40;
const HELP = "  ↑ ↓ choose, type to filter, Enter opens, Esc leaves";

export function picked(picking: Picking): WireSession | undefined {
  const fitting = fittingOf(picking);
  return fitting[placeOf(picking, fitting.length)];
}

/** As many lines as fit on the terminal, around the marked one. */
export function pickerLines(
  picking: Picking,
  now: number,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): string[] {
  const fitting = fittingOf(picking);
  const at = placeOf(picking, fitting.length);
  const room = Math.max(1, Math.min(fitting.length, rows - 3));
  const first = Math.max(0, Math.min(at - Math.floor(room / 2), fitting.length - room));
  const shown = fitting.slice(first, first + room);
  const lines = shown.map((session, index) => `${first + index === at ? "❯" : " "} ${row(session, now)}`);
  const head = picking.filter === "" ? HELP : `  / ${safeLine(picking.filter)}`;
  return [head, ...(lines.length === 0 ? ["  none fits"] : lines)].map((line) =>
    cutToWidth(line, columns - 1),
  );
}

function row(session: WireSession, now: number): string {
  const { pid, last_at, tokens_used, cwd } = session;
  const title = padToWidth(cutToWidth(titleCell(session), TITLE_COLUMNS), TITLE_COLUMNS);
  const numbers = [aligned(String(pid), 5, "right"), title, aligned(age(last_at, now), 4, "right")];
  return [...numbers, aligned(String(tokens_used), 8, "right"), safeLine(cwd)].join("  ");
}

function fittingOf({ sessions, filter }: Picking): readonly WireSession[] {
  const words = filter.toLowerCase().split(/\s+/);
  return sessions.filter(({ pid, title, cwd }) => {
    const text = `${pid} ${title} ${cwd}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function placeOf({ at }: Picking, count: number): number {
  return Math.max(0, Math.min(at, count - 1));
}
