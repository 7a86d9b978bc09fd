import type { RecordKind } from "../../kernel/ports/journal.ts";
import type { Fact } from "./fact.ts";

/** Whether a record of this kind closes the intent of a call: its outcome is known, or known to be unknown. */
export function endsCall(kind: RecordKind): boolean {
  return kind === "call.result" || kind === "call.unknown";
}

/** The number of the message that a record stores; 0: the record stores no message. */
export function messageOf(fact: Fact | null): number {
  return fact?.is === "mail" ? fact.message : 0;
}
