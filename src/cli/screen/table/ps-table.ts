import type { WireProc } from "../../../abi/methods/process.ts";
import { microUsd, shownUsd } from "../../../lib/usd.ts";
import { seconds } from "../text/elapsed.ts";
import { safeLine } from "../text/safe-text.ts";
import { cutToWidth, widthOf } from "../text/width.ts";
import { heldWord, INTENT_COLUMNS, intentCell, modeWord, taskOf, unpricedWords } from "./process-cells.ts";
import { aligned } from "./table.ts";

// the screen of the manual: its head and rules do not follow from the columns of its rows
const HEAD = [
  "  PID   STATE     SKILL              TOKENS   ELAPSED",
  "─────   ─────────   ───────────────   ────────   ────────",
];
const VERBOSE_HEAD = [
  "  PID    PPID   STATE     SKILL              TOKENS   ELAPSED   INTENT",
  "─────   ─────   ─────────   ───────────────   ────────   ────────   ",
];
const SKILL_COLUMNS = 15;
const GAP = "   ";

interface PsColumn {
  readonly head: string;
  readonly align: "left" | "right";
  /** The minimum width, from the manual; a wider cell widens the column. */
  readonly least: number;
  readonly verbose?: true;
  cell(proc: WireProc): string;
}

const COLUMNS: readonly PsColumn[] = [
  { head: "PID", align: "right", least: 5, cell: ({ pid }) => String(pid) },
  { head: "PPID", align: "right", least: 5, verbose: true, cell: ({ ppid }) => String(ppid) },
  { head: "STATE", align: "left", least: 7, cell: stateWord },
  { head: "SKILL", align: "left", least: SKILL_COLUMNS, cell: ({ skills }) => skillCell(skills) },
  { head: "TOKENS", align: "right", least: 6, cell: ({ tokens_used }) => String(tokens_used) },
  { head: "ELAPSED", align: "right", least: 7, cell: ({ elapsed_ms }) => seconds(elapsed_ms) },
  {
    head: "INTENT",
    align: "left",
    least: 20,
    verbose: true,
    cell: (proc) =>
      cutToWidth(`${modeWord(proc)}${labelWord(proc)}${intentCell(taskOf(proc))}`, INTENT_COLUMNS),
  },
];

/** One that has nothing to do is not said to run: a session between two messages, a member of a team that rests. */
function stateWord(proc: WireProc): string {
  const { state, activity } = proc;
  const rests = state === "running" && (activity === "waiting" || activity === "idle");
  return heldWord(proc) ?? (rests ? activity : state);
}

/**
 * The whole default or verbose screen of `crux ps`, without its final newline. `room`: the width of the terminal; where the
 * default one does not fit, it has no skills.
 */
export function psTable(processes: readonly WireProc[], verbose: boolean, room = Infinity): string {
  if (processes.length === 0) return "No active processes.";
  const hasRoom = verbose || room >= widthOf(HEAD[1] ?? "");
  const columns = COLUMNS.filter(
    (column) => (verbose || column.verbose === undefined) && (hasRoom || column.head !== "SKILL"),
  );
  const rows = processes.map((proc) => columns.map(({ cell }) => cell(proc)));
  const widths = columns.map(({ least }, at) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[at] ?? "")), least),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, at) => aligned(cells[at] ?? "", widths[at] ?? 0, align))
      .join(GAP)
      .trimEnd();
  const isManuals =
    hasRoom && columns.every(({ head, least }, at) => head === "INTENT" || widths[at] === least);
  const rules = widths.map((width) => "─".repeat(width));
  const head = isManuals
    ? manualHead(verbose, rules.at(-1) ?? "")
    : [line(columns.map((column) => column.head)), line(rules)];
  return [...head, ...rows.map(line), "", summary(processes)].join("\n");
}

/** `rule`: the rule below the intents, the last column. */
function manualHead(verbose: boolean, rule: string): readonly string[] {
  if (!verbose) return HEAD;
  const [names = "", rules = ""] = VERBOSE_HEAD;
  return [names, `${rules}${rule}`];
}

/** The labels of what it has read: untrusted or confidential. */
function labelWord({ labels = [] }: WireProc): string {
  return labels.length === 0 ? "" : `[${labels.join(", ")}] `;
}

function skillCell(skills: readonly string[]): string {
  const [first, ...more] = skills;
  if (first === undefined) return "—";
  return cutToWidth(safeLine(more.length === 0 ? first : `${first}+${more.length}`), SKILL_COLUMNS);
}

/**
 * Lines beside the table, whose columns are fixed. Empty if nothing was spent; calls without a known price are never
 * shown as zero.
 */
export function costLines(processes: readonly WireProc[]): readonly string[] {
  const micro = processes.reduce((sum, { cost_usd = 0 }) => sum + microUsd(cost_usd), 0);
  const unpriced = processes.reduce((sum, { unpriced_calls = 0 }) => sum + unpriced_calls, 0);
  if (unpriced > 0 && micro === 0) return [`[kernel] cost: unknown: ${unpricedWords(unpriced)}`];
  const more = unpriced === 0 ? "" : `, and ${unpricedWords(unpriced)}`;
  return micro === 0 ? [] : [`[kernel] cost: ${shownUsd(micro)}${more}; crux budget shows whose`];
}

/** Lines below the table: the notes that the user has pinned. */
export function noteLines(processes: readonly WireProc[]): readonly string[] {
  return processes.flatMap(({ pid, note = "" }) =>
    note === "" ? [] : [`[kernel] note of PID ${pid}: ${safeLine(note)}`],
  );
}

/** Lines below the table: the worktrees that were made for processes. */
export function worktreeLines(processes: readonly WireProc[]): readonly string[] {
  return processes.flatMap(({ pid, worktree }) =>
    worktree === undefined
      ? []
      : [`[kernel] worktree of PID ${pid}: ${safeLine(worktree.path)} (branch ${safeLine(worktree.branch)})`],
  );
}

/** Lines below the table: the members of teams by their names. */
export function teamLines(processes: readonly WireProc[]): readonly string[] {
  const members = new Map<string, string[]>();
  for (const { pid, team, called = "", activity } of processes) {
    if (team === undefined) continue;
    const idle = activity === "idle" ? " (idle)" : "";
    members.set(team, [...(members.get(team) ?? []), `PID ${pid} ${safeLine(called)}${idle}`]);
  }
  return [...members].map(([team, names]) => `[kernel] team ${safeLine(team)}: ${names.join(", ")}`);
}

/** Lines below the table: who waits to begin, or for a slot of a model, and how long. */
export function slotLines(processes: readonly WireProc[]): readonly string[] {
  const queued = processes.flatMap(({ pid, queue }) =>
    queue === undefined
      ? []
      : [`[kernel] PID ${pid} waits to begin: place ${queue.place} of ${queue.of} in the queue of its tree`],
  );
  const slots = processes.flatMap(({ pid, slot }) =>
    slot === undefined
      ? []
      : [`[kernel] PID ${pid} has waited ${seconds(slot.waited_ms)} for a slot of ${safeLine(slot.lane)}`],
  );
  return [...queued, ...slots];
}

/** Lines beside the table: the models in use, one line for each. */
export function modelLines(processes: readonly WireProc[]): readonly string[] {
  const pids = new Map<string, number[]>();
  for (const { pid, model = "" } of processes)
    if (model !== "") pids.set(model, [...(pids.get(model) ?? []), pid]);
  return [...pids].map(([model, of]) => `[kernel] model ${safeLine(model)}: PID ${of.join(", ")}`);
}

function summary(processes: readonly WireProc[]): string {
  const active = processes.filter(({ state }) => state === "created" || state === "running").length;
  const zombie = processes.filter(({ state }) => state === "zombie").length;
  const dead = processes.filter(({ state }) => state === "dead").length;
  return `${active} active, ${zombie} zombie, ${dead === 0 ? "" : `${dead} ended, `}${processes.length} total`;
}
