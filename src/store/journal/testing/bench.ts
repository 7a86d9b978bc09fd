/** What the contracts of the journal share: a journal of their own for each test, and records to put into it. */
import { afterEach, beforeEach } from "vitest";
import { asPid, asProcUuid } from "../../../abi/ids.ts";
import type { Journal, JournalDraft, RecordKind } from "../../../kernel/ports/journal.ts";

/** The state directory of one test; each open() stands for a new daemon on the same state. */
export interface JournalBench {
  open(): Promise<Journal>;
  /** Removes the files of the test; does not close journals. */
  remove(): Promise<void>;
}

export const PROC = asProcUuid("11111111-1111-4111-8111-111111111111");
export const OTHER = asProcUuid("22222222-2222-4222-8222-222222222222");

/** The `pid` and `proc` of process `n`, for drafts. */
export function of(n: number): Pick<JournalDraft, "pid" | "proc"> {
  return { pid: asPid(n), proc: asProcUuid(`00000000-0000-4000-8000-00000000000${n}`) };
}

export function draft(kind: RecordKind, body: unknown, more: Partial<JournalDraft> = {}): JournalDraft {
  return { proc: PROC, pid: asPid(1), kind, v: 1, body, ...more };
}

/** Gives each test a bench of its own. The result opens a journal on it; all of them are closed after the test. */
export function openerOf(makeBench: () => JournalBench): () => Promise<Journal> {
  let bench: JournalBench;
  const opened: Journal[] = [];
  beforeEach(() => {
    bench = makeBench();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await bench.remove();
  });
  return async () => {
    const next = await bench.open();
    opened.push(next);
    return next;
  };
}
