/** What a supervisor tells of an exit: plain and bounded, for the journal, the log and /proc. */
import { codeOf, messageOf } from "../abi/errors.ts";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import { LIMITS } from "../kernel/limits.ts";
import type { Process } from "../kernel/process/process.ts";

/** The error behind the exit, else its reason. */
export function causeOf({ err, reason }: ExitStatus): string {
  return cut(err === undefined ? reason : err.message || reason);
}

/** Without the error: it may hold on to a whole request. */
export function plainExit({ code, reason, kind }: ExitStatus): ExitStatus {
  return { code, reason: cut(reason), kind };
}

function cut(words: string): string {
  return words.length <= LIMITS.crashWordsChars ? words : `${words.slice(0, LIMITS.crashWordsChars)}…`;
}

/** A start that failed counts as an exit; one that was ended by a signal while it was made, as killed. */
export function exitOfFailure(error: unknown): ExitStatus {
  const err = error instanceof Error ? error : new Error(messageOf(error));
  if (codeOf(error) === "CANCELLED") return EXIT.sigterm;
  return { code: 1, reason: err.message, kind: "fault", err };
}

/** By these a process is asked to end, or a program told that nobody reads it: its death by them is no crash. */
const CLEAN: ReadonlySet<string> = new Set(
  ["SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE"].map((name) => `killed: ${name}`),
);

/**
 * Did somebody send the signal it died of? A verdict on a process is the kernel's. Without one, a program of the host was
 * ended by the host, and a supervisor has ended itself, as it was told.
 */
export function wasOrdered(proc: Process, { kind, reason }: ExitStatus): boolean {
  if (kind !== "killed") return false;
  return proc.ending.verdict !== null || CLEAN.has(reason);
}
