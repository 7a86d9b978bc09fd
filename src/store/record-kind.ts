import type { RecordKind } from "../kernel/ports/journal.ts";
import { decodeBody } from "./body.ts";

/** After such a record the intent of a call is not open any more: its outcome is known, or known to be unknown. */
export function endsCall(kind: RecordKind): boolean {
  return kind === "call.result" || kind === "call.unknown";
}

/** After such a record a process is not unfinished. A failed spawn and a reaped process count as ended. */
export function endsProcess(kind: RecordKind): boolean {
  return kind === "process.exited" || kind === "process.failed" || kind === "process.reaped";
}

/** The number of the message that a record stores; 0: it stores none. */
export function messageOf(kind: RecordKind, body: string): number {
  if (kind !== "mail.put") return 0;
  const { seq } = (decodeBody(body) ?? {}) as { seq?: unknown };
  return typeof seq === "number" && Number.isSafeInteger(seq) ? seq : 0;
}
