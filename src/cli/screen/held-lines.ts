/** What `running` in a list does not tell: which processes do nothing until a person does something. */
import type { WireProc } from "../../abi/methods.ts";

const SHOWN_PIDS = 8;

/** A line for each kind of holding, with the command that goes on. */
export function heldLines(processes: readonly WireProc[]): string[] {
  return HELD.flatMap(([activity, words, command]) => {
    const pids = processes.filter((proc) => proc.state === "running" && proc.activity === activity);
    if (pids.length === 0) return [];
    const more = pids.length > SHOWN_PIDS ? ` and ${pids.length - SHOWN_PIDS} more` : "";
    const named = pids.slice(0, SHOWN_PIDS).map(({ pid }) => pid);
    const target = pids.length === 1 ? named[0] : "<pid>";
    return [`[kernel] ${words}: PID ${named.join(" ")}${more}; ${command(target)}`];
  });
}

type Target = number | string | undefined;

const HELD = [
  ["paused", "paused", (pid: Target) => `crux cont ${pid} lets it go on`],
  ["blocked", "waiting for an answer", (pid: Target) => `crux attach ${pid} shows the question`],
  ["waiting", "waiting for a message", (pid: Target) => `crux -r ${pid} goes on with it`],
] as const;
