/** The end of a process that is no longer in the table, from the journal. */
import { codeOf } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { ExitStatus } from "../../abi/process.ts";
import type { JournalRecord, ProcessRow } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";

interface EndedProcess {
  readonly exit: ExitStatus;
  /** Its result; "" where none was kept. */
  readonly result: string;
  readonly tokensUsed: number;
  readonly elapsedMs: number;
}

/** What finding the end of a process needs of the kernel. */
export interface EndSearch {
  readonly ports: Pick<KernelPorts, "journal" | "ends">;
}

/** How many records to search for the exit: only the last log lines and the reaping may follow it. */
const LAST_RECORDS = 64;

interface Exited {
  readonly kind: ExitStatus["kind"];
  readonly result: string;
  readonly tokensUsed: number;
}

/** undefined: no such process, its history was removed, or it has not ended. */
export async function endOf(core: EndSearch, pid: Pid): Promise<EndedProcess | undefined> {
  const { journal } = core.ports;
  const uuid = await journal.processOf(pid);
  const row = uuid === undefined ? undefined : await journal.row(uuid);
  const exit = row?.exit ?? (uuid === undefined ? undefined : core.ports.ends?.exitOf(uuid));
  if (row === undefined || exit === undefined) return undefined;
  const { code, reason } = exit;
  const record = await exitRecord(core, row);
  const { kind, result = "", tokensUsed = row.tokensUsed } = (record?.body ?? {}) as Partial<Exited>;
  const elapsedMs = Math.max(0, (record?.at ?? row.lastAt) - row.createdAt);
  const ended = kind ?? (reason.startsWith("killed: ") ? "killed" : code === 0 ? "done" : "fault");
  return { exit: { code, reason, kind: ended }, result, tokensUsed, elapsedMs };
}

/** undefined: it cannot be read; the caller then uses the row. */
async function exitRecord(
  { ports: { journal } }: EndSearch,
  row: ProcessRow,
): Promise<JournalRecord | undefined> {
  try {
    const last = await journal.read(row.proc, row.lastSeq - LAST_RECORDS + 1, LAST_RECORDS);
    return last.findLast(({ kind }) => kind === "process.exited");
  } catch (error) {
    if (codeOf(error) === "INTERNAL") return undefined;
    throw error;
  }
}
