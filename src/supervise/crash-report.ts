/** Describes exits in plain, bounded data, for the journal, the log and /proc. */
import { codeOf, messageOf } from "../abi/errors.ts";
import { EXIT, type ExitStatus } from "../abi/process.ts";
import { LIMITS } from "../kernel/limits.ts";
import type { Process } from "../kernel/process/process.ts";

/** The message of the error that caused the exit, or else its reason. */
export function causeOf({ err, reason }: ExitStatus): string {
  return cut(err === undefined ? reason : err.message || reason);
}

/** The exit without its error, which may reference a whole request. */
export function plainExit({ code, reason, kind }: ExitStatus): ExitStatus {
  return { code, reason: cut(reason), kind };
}

function cut(words: string): string {
  return words.length <= LIMITS.crashWordsChars ? words : `${words.slice(0, LIMITS.crashWordsChars)}…`;
}

/** The exit that a failed start counts as; one cancelled by a signal during the start counts as killed. */
export function exitOfFailure(error: unknown): ExitStatus {
  const err = error instanceof Error ? error : new Error(messageOf(error));
  if (codeOf(error) === "CANCELLED") return EXIT.sigterm;
  return { code: 1, reason: err.message, kind: "fault", err };
}

/** Signals that ask a process to end, or that show a program that its reader is gone: ending by them is not a crash. */
const CLEAN: ReadonlySet<string> = new Set(
  ["SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE"].map((name) => `killed: ${name}`),
);

/**
 * Whether it ended on order. A process whose verdict is a signal was ended by the kernel, also if its program handles
 * TERM and has an exit code of its own. Without a verdict, a host program was ended by the host, and a supervisor ended
 * itself because it received a signal.
 */
export function wasOrdered({ ending: { verdict } }: Process, { kind, reason }: ExitStatus): boolean {
  return verdict === null ? kind === "killed" && CLEAN.has(reason) : verdict.kind === "killed";
}
