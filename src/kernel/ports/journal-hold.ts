/**
 * What processes and clients do while the disk accepts no records. journal-watch.ts is it; each room names the part that
 * it needs.
 */
import type { Fact } from "../../abi/fact.ts";
import type { Journal, JournalDraft } from "./journal.ts";

export interface JournalHold<Proc> {
  /** Checked before a client's request begins. UNAVAILABLE: it could not be recorded. */
  check(syscall: string): void;
  /** The current problem; undefined: none. */
  readonly fact: Fact | undefined;
  /** Returns when the journal is not degraded; CANCELLED when the process ends first, or the call is cancelled. */
  wait(proc: Proc, syscall: string, signal: AbortSignal): Promise<void>;
  /** Like `wait`, for a call in progress in the gate. */
  held(proc: Proc, syscall: string, signal: AbortSignal): Promise<void>;
  /** For an exit: waits for the disk until `signal` fires. Never rejects. */
  heldUntil(proc: Proc, signal: AbortSignal): Promise<void>;
  /** Appends and syncs records of a process: if the disk refuses, it waits and retries. */
  append(
    proc: Proc,
    syscall: string,
    signal: AbortSignal,
    drafts: readonly JournalDraft[],
  ): ReturnType<Journal["append"]>;
  /**
   * For the intent of a call that only costs money, where no limit applies: its sync starts and nobody waits for it. If
   * the disk refuses, the record stays queued before all later ones.
   */
  begin(intent: JournalDraft): void;
}
