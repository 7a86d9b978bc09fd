/** What the state `running` hides: which processes are held, why, and which command releases them. */
import type { WireProc } from "../../abi/methods/process.ts";
import { heldWord } from "./table/process-cells.ts";

const SHOWN_PIDS = 8;

type Shown = Pick<WireProc, "pid" | "state" | "activity" | "held">;

/** The form used by `--json`. */
interface Held {
  readonly state: string;
  readonly reason: string;
  /** A command, or a note that nothing needs to be done. */
  readonly next: string;
}

/** undefined: the process is not held. */
export function heldBy(proc: Shown): Held | undefined {
  const state = heldWord(proc);
  const hold = HELD.find(({ is }) => is(proc));
  if (state === undefined || hold === undefined) return undefined;
  return {
    state,
    reason: hold.words,
    next: hold.command(proc.pid) ?? "none; it is resumed when there is room",
  };
}

/** One line for each kind of hold, with the command that releases it. */
export function heldLines(processes: readonly Shown[]): string[] {
  return HELD.flatMap((hold) => linesOf(processes, hold));
}

/** Sessions that wait for the user. */
export function waitingLines(processes: readonly Shown[]): string[] {
  return linesOf(processes, WAITING);
}

function linesOf(processes: readonly Shown[], { is, words, command, does }: Hold): string[] {
  const pids = processes.filter((proc) => proc.state === "running" && is(proc)).map(({ pid }) => pid);
  if (pids.length === 0) return [];
  const more = pids.length > SHOWN_PIDS ? ` and ${pids.length - SHOWN_PIDS} more` : "";
  const named = pids.slice(0, SHOWN_PIDS);
  const target = command(pids.length === 1 ? (named[0] ?? 0) : "<pid>");
  return [
    `[kernel] ${words}: PID ${named.join(" ")}${more}; ${target === undefined ? "" : `${target} `}${does}`,
  ];
}

interface Hold {
  is(proc: Shown): boolean;
  readonly words: string;
  /** undefined: the hold ends by itself. */
  command(pid: number | string): string | undefined;
  readonly does: string;
}

const isPaused = ({ activity }: Shown): boolean => activity === "paused";

const HELD: readonly Hold[] = [
  {
    is: (proc) => isPaused(proc) && (proc.held ?? "signal") === "signal",
    words: "paused",
    command: (pid) => `crux cont ${pid}`,
    does: "resumes it",
  },
  {
    is: (proc) => isPaused(proc) && proc.held === "crash",
    words: "held after a crash of the daemon",
    command: (pid) => `crux cont ${pid}`,
    does: "resumes it",
  },
  {
    is: (proc) => isPaused(proc) && proc.held === "damage",
    words: "held because its history is damaged",
    command: (pid) => `crux fsck ${pid}`,
    does: "shows what is wrong",
  },
  {
    is: (proc) => isPaused(proc) && proc.held === "disk",
    words: "paused because the disk of the journal takes nothing",
    command: () => undefined,
    does: "it is resumed when there is room",
  },
  {
    is: ({ activity }) => activity === "blocked",
    words: "blocked, waiting for an answer",
    command: (pid) => `crux attach ${pid}`,
    does: "shows the question",
  },
];

const WAITING: Hold = {
  is: ({ activity }) => activity === "waiting",
  words: "waiting for a message",
  command: (pid) => `crux -r ${pid}`,
  does: "continues it",
};
