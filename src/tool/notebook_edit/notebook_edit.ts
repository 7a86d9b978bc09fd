/** notebook_edit: replaces, inserts or deletes one cell of a Jupyter notebook; the text of all others stays. */
import { createHash } from "node:crypto";
import * as z from "zod";
import { EditMeta, editMeta } from "../edit/edit.ts";
import { failure } from "../failure.ts";
import { type Cell, cellId, cellSpans, parseNotebook } from "../notebook.ts";
import { makePatch, patchFacts } from "../patch.ts";
import { readEffect, writablePath } from "../path.ts";
import { openTextFile, putText, type TextFile } from "../text-file.ts";
import { type Dialog, defineTool, type LookContext, type Outcome, type RunContext } from "../tool.ts";
import text from "./notebook_edit.md";

const Args = z.object({
  notebook_path: z.string().min(1),
  cell_id: z.string().min(1).optional(),
  new_source: z.string().optional(),
  cell_type: z.enum(["code", "markdown"]).optional(),
  edit_mode: z.enum(["replace", "insert", "delete"]).default("replace"),
});
type Args = z.output<typeof Args>;

const NotebookMeta = EditMeta.extend({ cell_id: z.string(), edit_mode: z.string() });
const LISTED_IDS = 50;

export const notebookEdit = defineTool({
  name: "notebook_edit",
  hint: "jupyter notebook cell edit",
  text,
  args: Args,
  meta: NotebookMeta,
  interrupt: "block",
  effectClass: "probe",
  effects: (args, scope) => {
    const path = writablePath(args.notebook_path, scope.cwd);
    return [readEffect(path), { kind: "write", path, change: "modify" }];
  },
  destructive: ({ edit_mode }) => edit_mode === "delete",
  prepare: async (args, look) => {
    await work(args, look, "");
  },
  view,
  activity: (args) => `Editing ${args.notebook_path}`,
  paths: (args) => [args.notebook_path],
  run,
});

function view({ notebook_path, ...change }: Args): Dialog {
  const where = change.cell_id === undefined ? "" : `, cell ${change.cell_id}`;
  return {
    operation: `edit notebook: ${notebook_path} (${change.edit_mode}${where})`,
    params: { notebook_path, ...change },
  };
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const { file, after, id } = await work(args, context, context.callId);
  await putText(file, after, context);
  const patch = makePatch(args.notebook_path, file.text, after);
  const meta = { ...editMeta(file, after, patch), cell_id: id, edit_mode: args.edit_mode };
  return {
    text: `${DONE[args.edit_mode]} cell ${id} of ${args.notebook_path}`,
    meta,
    facts: patchFacts(patch),
  };
}

const DONE = { replace: "Replaced", insert: "Inserted", delete: "Deleted" } as const;

interface Worked {
  readonly file: TextFile;
  readonly after: string;
  readonly id: string;
}

/** All steps but the write. `seed`: for the id of a new cell. */
async function work(args: Args, look: LookContext, seed: string): Promise<Worked> {
  checkArguments(args);
  const { notebook_path: shown, cell_id, new_source = "", cell_type, edit_mode } = args;
  const file = await openTextFile(shown, look);
  const notebook = parseNotebook(shown, file.text);
  const ids = notebook.cells.map(cellId);
  const at = cell_id === undefined ? -1 : ids.indexOf(cell_id);
  if (cell_id !== undefined && at === -1) throw unknownCell(cell_id, ids);
  const cell = notebook.cells[at];
  if (edit_mode === "insert") {
    const own = needsId(notebook) ? newId(seed, ids) : null;
    const made = newCell(own, cell_type ?? "code", new_source);
    return { file, after: insertCell(file.text, at + 1, made), id: own ?? `cell-${at + 1}` };
  }
  const after =
    edit_mode === "delete" || cell === undefined
      ? deleteCell(file.text, at)
      : replaceCell(file.text, at, changedCell(cell, new_source, cell_type));
  if (after === file.text) throw failure("INVALID", `the cell has this source already: ${cell_id}`);
  return { file, after, id: cell_id ?? "" };
}

function checkArguments({ cell_id, new_source, cell_type, edit_mode }: Args): void {
  if (edit_mode !== "insert" && cell_id === undefined)
    throw failure("INVALID", `cell_id is required to ${edit_mode} a cell`);
  if (edit_mode === "insert" && cell_type === undefined)
    throw failure("INVALID", "cell_type is required to insert a cell");
  if (edit_mode !== "delete" && new_source === undefined)
    throw failure("INVALID", `new_source is required to ${edit_mode} a cell`);
  if (edit_mode === "delete" && new_source !== undefined)
    throw failure("INVALID", "new_source means nothing when a cell is deleted");
}

function unknownCell(id: string, ids: readonly string[]): Error {
  const more = ids.length > LISTED_IDS ? `, … ${ids.length - LISTED_IDS} more` : "";
  const here = ids.length === 0 ? "none" : `${ids.slice(0, LISTED_IDS).join(", ")}${more}`;
  return failure("NOT_FOUND", `cell not found: ${id}. Cells here: ${here}`);
}

/** Keeps the order of the keys; the outputs of the old source are removed. */
function changedCell(cell: Cell, source: string, type: string | undefined): Cell {
  const cell_type = type ?? cell.cell_type;
  const lines = typeof cell.source === "string" ? source : linesOf(source);
  const changed: Cell = { ...cell, cell_type, source: lines };
  const { outputs: _outputs, execution_count: _count, ...bare } = changed;
  if (cell_type !== "code") return { ...bare, cell_type, source: lines };
  return cell.cell_type === "code"
    ? { ...changed, execution_count: null, outputs: [] }
    : { ...bare, cell_type, source: lines, execution_count: null, outputs: [] };
}

function newCell(id: string | null, type: "code" | "markdown", source: string): Cell {
  const known = { cell_type: type, ...(id === null ? {} : { id }), metadata: {}, source: linesOf(source) };
  return type === "code" ? { ...known, execution_count: null, outputs: [] } : known;
}

/** The list form of the format: each line with its line end. */
function linesOf(source: string): string[] {
  return source === "" ? [] : (source.match(/[^\n]*\n|[^\n]+$/g) ?? []);
}

/** From nbformat 4.5 on each cell has an id. */
function needsId({
  nbformat = 4,
  nbformat_minor = 0,
}: {
  nbformat?: number;
  nbformat_minor?: number;
}): boolean {
  return nbformat > 4 || (nbformat === 4 && nbformat_minor >= 5);
}

function newId(seed: string, ids: readonly string[]): string {
  for (let n = 0; ; n++) {
    const id = createHash("sha256").update(`${seed}/${n}`).digest("hex").slice(0, 8);
    if (!ids.includes(id)) return id;
  }
}

/** Replaces one cell in the text of a notebook, in the indentation of the text. Pure. */
export function replaceCell(text: string, at: number, cell: Cell): string {
  const { cells } = cellSpans(text);
  const { start, end } = cells[at] ?? { start: 0, end: 0 };
  return text.slice(0, start) + cellText(text, cell) + text.slice(end);
}

/** Also removes the comma between the cell and its neighbour. */
export function deleteCell(text: string, at: number): string {
  const { list, cells } = cellSpans(text);
  const [before, cell, after] = [cells[at - 1], cells[at], cells[at + 1]];
  if (cell === undefined) return text;
  if (after !== undefined) return text.slice(0, cell.start) + text.slice(after.start);
  if (before !== undefined) return text.slice(0, before.end) + text.slice(cell.end);
  return `${text.slice(0, list.start)}[]${text.slice(list.end)}`;
}

/** Inserts before the cell at this position. */
export function insertCell(text: string, at: number, cell: Cell): string {
  const { list, cells } = cellSpans(text);
  const [before, after] = [cells[at - 1], cells[at]];
  const { unit, newline } = layoutOf(text);
  const inner = unit === "" ? "" : newline + unit.repeat(2);
  const made = cellText(text, cell);
  if (before !== undefined) return `${text.slice(0, before.end)},${inner}${made}${text.slice(before.end)}`;
  if (after !== undefined) return `${text.slice(0, after.start)}${made},${inner}${text.slice(after.start)}`;
  const outer = unit === "" ? "" : newline + unit;
  return `${text.slice(0, list.start)}[${inner}${made}${outer}]${text.slice(list.end)}`;
}

function cellText(text: string, cell: Cell): string {
  const { unit, newline } = layoutOf(text);
  return JSON.stringify(cell, null, unit).replaceAll("\n", newline + unit.repeat(2));
}

/** `unit`: the indentation of one level; "": everything is on one line. */
function layoutOf(text: string): { readonly unit: string; readonly newline: string } {
  const [, newline = "\n", unit = ""] = /^\uFEFF?\s*\{(\r?\n)([ \t]*)/.exec(text) ?? [];
  return { unit, newline };
}
