/** Why a run ended, in the words of the result. Pure. */
import type { WireError } from "../../abi/errors.ts";
import { ENDS, type Terminal } from "../../abi/loop.ts";
import type { Subtype } from "../../abi/print/print.ts";
import { EXIT } from "../../abi/process.ts";
import type { CompleteEvent, IdleEvent } from "../../abi/wire-events.ts";
import { seconds } from "../screen/text/elapsed.ts";

export interface Ending {
  readonly subtype: Subtype;
  readonly terminalReason: string;
  readonly errors: readonly string[];
  /** What to do next; absent: not known. */
  readonly hint?: string | undefined;
  readonly exitCode: number;
}

interface Before {
  /** A call of the last reply has no result. */
  readonly isCalling: boolean;
  /** What was reported before the end, and the last warning. */
  readonly error: WireError | undefined;
  readonly warning?: string | undefined;
}

export function endingOf(event: CompleteEvent | IdleEvent, { isCalling, error, warning }: Before): Ending {
  const { exit_code: exitCode } = event;
  if (exitCode === 0) return { subtype: "success", terminalReason: "completed", errors: [], exitCode };
  const words = event.event === "idle" ? event.message : event.exit_reason;
  const cause = event.event === "idle" ? (event.error ?? error) : error;
  const isOver = exitCode === EXIT.budget.code;
  // which limit it was, or that the price of the model is not known
  const why = isOver && cause === undefined && warning !== undefined ? [warning] : [];
  const errors = [cause?.message ?? words ?? `exit ${exitCode}`, ...why];
  const hint = isOver
    ? `crux budget ${event.pid} shows its limits; --add, or crux budget set, raises one`
    : undefined;
  const reason = event.event === "idle" ? event.reason : undefined;
  return {
    ...(reason === undefined ? namedEnd(exitCode, words ?? "", isCalling) : named(reason)),
    errors,
    hint: cause?.hint ?? hint,
    exitCode,
  };
}

/** How a run ended that the deadline of its command stopped. */
export function lateEnding(timeoutMs: number): Ending {
  const errors = [`timeout: it was not over within ${seconds(timeoutMs)}`];
  return { ...named("deadline"), errors, hint: LATE_HINT, exitCode: EXIT.timeout.code };
}

const LATE_HINT = "-c continues the session; --timeout gives it more time";

/** How a run ended that never had an end of its own: it was refused, or the daemon is gone. */
export function failedEnding(error: WireError): Ending {
  const text = error.syscall === undefined ? error.message : `${error.syscall}: ${error.message}`;
  return {
    subtype: "error_during_execution",
    terminalReason: error.code === "INVALID" ? "invalid_input" : "unavailable",
    errors: [`[${error.code}] ${text}`],
    hint: error.hint,
    exitCode: 1,
  };
}

type Named = Pick<Ending, "subtype" | "terminalReason">;

function namedEnd(exitCode: number, reason: string, isCalling: boolean): Named {
  if (SIGNALLED.has(exitCode)) return named(isCalling ? "aborted_tools" : "aborted_streaming");
  const found = REASONS.find((each) => ENDS[each].reason === reason && ENDS[each].code === exitCode);
  return named(found ?? (exitCode === EXIT.budget.code ? "budget_exhausted" : "model_error"));
}

function named(terminalReason: Terminal["reason"]): Named {
  return { subtype: SUBTYPES[terminalReason] ?? "error_during_execution", terminalReason };
}

const REASONS = Object.keys(ENDS) as Terminal["reason"][];

const SUBTYPES: Readonly<Partial<Record<Terminal["reason"], Subtype>>> = {
  completed: "success",
  max_turns: "error_max_turns",
  budget_exhausted: "error_max_budget_usd",
  structured_output_failed: "error_max_structured_output_retries",
};

const SIGNALLED: ReadonlySet<number> = new Set([EXIT.sigint.code, EXIT.sigterm.code, EXIT.sigkill.code]);
