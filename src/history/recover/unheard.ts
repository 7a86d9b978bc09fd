/**
 * Finds processes whose spawn was recorded but perhaps never reported to the client: the sync was refused, or the
 * daemon died before it answered. The client may have repeated its request, so these processes do not start by
 * themselves.
 */
import { PID_KERNEL, type ProcUuid } from "../../abi/ids.ts";
import type { Journal, JournalRecord, RecordKind } from "../../kernel/ports/journal.ts";
import type { SpawnedBody } from "../../kernel/process/kept-state.ts";

/** Records written together with a spawn. Any other record was written after the spawn was known to be on disk. */
const MAKING: ReadonlySet<RecordKind> = new Set<RecordKind>([
  "process.forked",
  "process.spawned",
  "process.state",
  "ctx.record",
  "group.join",
]);
/** More records than a spawn writes. */
const PAGE = 64;

/**
 * Only processes that a client spawned count: an agent that spawned one sees that the outcome of its call is unknown.
 */
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
