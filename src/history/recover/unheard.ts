/**
 * Processes that were recorded, and whose spawn was perhaps told to nobody: the sync was refused, or the daemon died before its
 * answer. Whoever asked may ask again, or did. So nothing of what it was to do is done unasked.
 */
import { PID_KERNEL, type ProcUuid } from "../../abi/ids.ts";
import type { Journal, JournalRecord, RecordKind } from "../../kernel/ports/journal.ts";
import type { SpawnedBody } from "./kept-state.ts";

/** What is written with a spawn. Anything else was written after it was known to be on disk. */
const MAKING: ReadonlySet<RecordKind> = new Set<RecordKind>([
  "process.forked",
  "process.spawned",
  "process.state",
  "ctx.record",
  "group.join",
]);
/** A spawn has fewer records. */
const PAGE = 64;

/** Of `unfinished`, those that a client asked for. An agent reads that the outcome of its call is unknown. */
export async function unheard(
  journal: Pick<Journal, "read" | "acknowledgedLsn">,
  unfinished: readonly JournalRecord[],
): Promise<ReadonlySet<ProcUuid>> {
  const { acknowledgedLsn = Infinity } = journal;
  const found = new Set<ProcUuid>();
  for (const { lsn, proc, body } of unfinished) {
    if (lsn <= acknowledgedLsn || (body as SpawnedBody).ppid !== PID_KERNEL) continue;
    const records = await journal.read(proc, 1, PAGE).catch(() => []);
    if (records.length < PAGE && records.every(({ kind }) => MAKING.has(kind))) found.add(proc);
  }
  return found;
}
