/** Many of what a daemon wrote once: its records, taken from its journal and put into it again through the port. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { asPid, asProcUuid, type ProcUuid } from "../../src/abi/ids.ts";
import type { Journal, JournalDraft, JournalRecord } from "../../src/kernel/ports/journal.ts";
import { openJournal } from "../../src/store/sqlite/open-journal.ts";

/** Drafts that wait for the disk at once. */
const IN_FLIGHT = 8_192;
const PAGE = 256;

/** Of a state directory whose daemon has ended. */
export async function withJournal<T>(state: string, act: (journal: Journal) => Promise<T>): Promise<T> {
  const journal = await openJournal({ dir: join(state, "journal") });
  try {
    return await act(journal);
  } finally {
    await journal.close();
  }
}

export async function historyOf(journal: Journal, pid: number): Promise<readonly JournalRecord[]> {
  const proc = await journal.processOf(asPid(pid));
  if (proc === undefined) throw new Error(`no process ${pid}`);
  const records: JournalRecord[] = [];
  for (;;) {
    const page = await journal.read(proc, records.length + 1, PAGE);
    if (page.length === 0) return records;
    records.push(...page);
  }
}

/** The same history of another process, as if the daemon had made that one, too. */
export function copyOf(records: readonly JournalRecord[], pid: number): readonly JournalDraft[] {
  const [first] = records;
  if (first === undefined) return [];
  const proc = asProcUuid(randomUUID());
  return records.map(({ kind, v, call, body }) => ({
    proc,
    pid: asPid(pid),
    kind,
    v,
    ...(call === undefined ? {} : { call }),
    body: renamed(body, first, proc, pid),
  }));
}

function renamed(body: unknown, from: { proc: ProcUuid; pid: number }, proc: ProcUuid, pid: number): unknown {
  const text = JSON.stringify(body)
    .replaceAll(from.proc, proc)
    .replaceAll(`"pid":${from.pid}`, `"pid":${pid}`);
  return JSON.parse(text) as unknown;
}

/** Notes them, and waits for the disk now and then: what waits stays bounded. */
export async function noteAll(journal: Journal, drafts: Iterable<JournalDraft>): Promise<void> {
  let held: JournalDraft[] = [];
  for (const draft of drafts) {
    held.push(draft);
    if (held.length < IN_FLIGHT) continue;
    journal.note(held);
    held = [];
    await journal.sync();
  }
  journal.note(held);
  await journal.sync();
}
