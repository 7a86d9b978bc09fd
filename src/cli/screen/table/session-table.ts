import type { WireSession } from "../../../abi/methods/session.ts";
import { safeLine } from "../text/safe-text.ts";
import { type Column, table } from "./table.ts";

const TITLE_COLUMNS = 48;
const FOLDER_COLUMNS = 40;

interface SessionView {
  readonly now: number;
  readonly withFolder: boolean;
  /** The width of the terminal, if there is one. */
  readonly room: number | undefined;
}

/** The elapsed time in the largest unit that fits: `5m`. */
export function age(since: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** The whole screen of `crux sessions`, without its final newline. */
export function sessionTable(
  sessions: readonly WireSession[],
  { now, withFolder, room }: SessionView,
): string {
  const columns: Column<WireSession>[] = [
    { head: "PID", align: "right", cell: ({ pid }) => String(pid) },
    { head: "STATE", align: "left", cell: ({ state }) => state },
    { head: "AGE", align: "right", cell: ({ last_at }) => age(last_at, now) },
    { head: "TOKENS", align: "right", cell: ({ tokens_used }) => String(tokens_used) },
    { head: "TITLE", align: "left", maxColumns: TITLE_COLUMNS, cell: titleCell },
  ];
  if (withFolder)
    columns.push({
      head: "FOLDER",
      align: "left",
      maxColumns: FOLDER_COLUMNS,
      cell: ({ cwd }) => safeLine(cwd),
    });
  return table(columns, sessions, room);
}

export function titleCell({ title, kept }: WireSession): string {
  return `${kept ? "* " : ""}${title === "" ? "—" : safeLine(title)}`;
}
