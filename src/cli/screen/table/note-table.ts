import { basename } from "node:path";
import type { Note } from "../../../abi/methods/memory.ts";
import { safeLine } from "../text/safe-text.ts";
import { type Column, table } from "./table.ts";

const COLUMNS: ReadonlyArray<Column<Note>> = [
  {
    head: "NOTE",
    align: "left",
    maxColumns: 40,
    cell: ({ path, problem }) => `${safeLine(noteName(path))}${problem === "" ? "" : " !"}`,
  },
  { head: "OF", align: "left", maxColumns: 8, cell: ({ scope }) => (scope === "local" ? "project" : "you") },
  { head: "TYPE", align: "left", maxColumns: 10, cell: ({ type }) => (type === "" ? "-" : safeLine(type)) },
  { head: "BYTES", align: "right", maxColumns: 8, cell: ({ bytes }) => String(bytes) },
  {
    head: "ABOUT",
    align: "left",
    maxColumns: 80,
    cell: ({ description, problem }) => safeLine(problem === "" ? description : problem),
  },
];

/** Notes of agents, one per line; `!` marks those that agents do not find or read. */
export function noteTable(notes: readonly Note[], room?: number): string {
  return table(COLUMNS, notes, room);
}

/** With the agent before it, if it is a note of its own. */
export function noteName(path: string): string {
  const [, agent] = /\/agents\/([^/]+)\/[^/]+$/.exec(path) ?? [];
  return agent === undefined ? basename(path) : `${agent}/${basename(path)}`;
}
