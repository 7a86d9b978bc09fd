import type { WireProc } from "../../abi/methods.ts";
import { microUsd, shownUsd } from "../../lib/usd.ts";
import { seconds } from "./elapsed.ts";
import { heldWord, modeWord } from "./process-cells.ts";
import { safeLine } from "./safe-text.ts";
import { cutToWidth, padToWidth } from "./width.ts";

// constants of the manual; they do not follow from the columns of the rows
const HEAD = [
  "  PID   STATE     SKILL              TOKENS   ELAPSED",
  "─────   ─────────   ───────────────   ────────   ────────",
];
const VERBOSE_HEAD = [
  "  PID    PPID   STATE     SKILL              TOKENS   ELAPSED   INTENT",
  "─────   ─────   ─────────   ───────────────   ────────   ────────   ────────────────────",
];

const SKILL_COLUMNS = 15;
const INTENT_COLUMNS = 40;
const GAP = "   ";

/** The whole default or verbose screen of `crux ps`, without its final newline. */
export function psTable(processes: readonly WireProc[], verbose: boolean): string {
  if (processes.length === 0) return "No active processes.";
  const head = verbose ? VERBOSE_HEAD : HEAD;
  return [...head, ...processes.map((proc) => row(proc, verbose)), "", summary(processes)].join("\n");
}

function row(proc: WireProc, verbose: boolean): string {
  const cells = [
    String(proc.pid).padStart(5),
    ...(verbose ? [String(proc.ppid).padStart(5)] : []),
    (heldWord(proc) ?? proc.state).padEnd(7),
    padToWidth(skillCell(proc.skills), SKILL_COLUMNS),
    String(proc.tokens_used).padStart(6),
    seconds(proc.elapsed_ms).padStart(7),
    ...(verbose
      ? [cutToWidth(`${modeWord(proc)}${labelWord(proc)}${safeLine(firstLine(proc.intent))}`, INTENT_COLUMNS)]
      : []),
  ];
  return cells.join(GAP);
}

/** What it has read that may not be trusted, or may not leave. */
function labelWord({ labels = [] }: WireProc): string {
  return labels.length === 0 ? "" : `[${labels.join(", ")}] `;
}

function skillCell(skills: readonly string[]): string {
  const [first, ...more] = skills;
  if (first === undefined) return "—";
  return cutToWidth(safeLine(more.length === 0 ? first : `${first}+${more.length}`), SKILL_COLUMNS);
}

function firstLine(text: string): string {
  return text.trimStart().split(/\r?\n/, 1)[0] ?? "";
}

/** Beside the table, whose columns are fixed. None where nothing has a price. */
export function costLines(processes: readonly WireProc[]): readonly string[] {
  const micro = processes.reduce((sum, { cost_usd = 0 }) => sum + microUsd(cost_usd), 0);
  return micro === 0 ? [] : [`[kernel] cost: ${shownUsd(micro)}; crux budget shows whose`];
}

/** Beside the table, too: who answers, one line for each model. */
export function modelLines(processes: readonly WireProc[]): readonly string[] {
  const pids = new Map<string, number[]>();
  for (const { pid, model = "" } of processes)
    if (model !== "") pids.set(model, [...(pids.get(model) ?? []), pid]);
  return [...pids].map(([model, of]) => `[kernel] model ${safeLine(model)}: PID ${of.join(", ")}`);
}

function summary(processes: readonly WireProc[]): string {
  const active = processes.filter(({ state }) => state === "created" || state === "running").length;
  const zombie = processes.filter(({ state }) => state === "zombie").length;
  return `${active} active, ${zombie} zombie, ${processes.length} total`;
}
