import type { RecordKind } from "../kernel/ports/journal.ts";

/** After such a record the intent of a call is not open any more: its outcome is known, or known to be unknown. */
export function endsCall(kind: RecordKind): boolean {
  return kind === "call.result" || kind === "call.unknown";
}

/** After such a record a process is not unfinished. A failed spawn and a reaped process count as ended. */
export function endsProcess(kind: RecordKind): boolean {
  return kind === "process.exited" || kind === "process.failed" || kind === "process.reaped";
}
