/** How those children of a supervisor ended of which it did not hear. */
import type { ExitStatus } from "../abi/process.ts";
import type { Journal, JournalRecord } from "../kernel/ports/journal.ts";
import { type LastExit, LOST } from "./comeback.ts";
import type { KeptRun, KeptSupervisor } from "./kept-supervisor.ts";

/** Of children that had ended; the others were lost at `diedAt`, as near as is known. */
export async function lastExits(
  journal: Journal,
  { children }: KeptSupervisor,
): Promise<{ exits: ReadonlyMap<string, LastExit>; diedAt: number | undefined }> {
  const exits = new Map<string, LastExit>();
  for (const { id, run, isRunning } of children) {
    const exit = isRunning && run !== null ? await lastExit(journal, run) : undefined;
    if (exit !== undefined) exits.set(id, exit);
  }
  const [newest] = await journal.rows({ limit: 1 });
  return { exits, diedAt: newest?.lastAt };
}

/** Records at the end of a history: its exit is among them, and a signal just before it. */
const LAST_RECORDS = 16;
/** TERM, KILL, INT. */
const ENDING_SIGNALS: ReadonlySet<unknown> = new Set([1, 2, 3]);

async function lastExit(journal: Journal, { uuid }: KeptRun): Promise<LastExit | undefined> {
  const row = await journal.row(uuid);
  if (row === undefined || row.exit === null) return undefined;
  const from = Math.max(1, row.lastSeq - LAST_RECORDS + 1);
  const records = await journal.read(uuid, from, LAST_RECORDS);
  const found = records.find(({ kind }) => kind === "process.exited");
  if (found === undefined) return { exit: LOST, isOrdered: false, at: row.lastAt };
  const { code, reason, kind } = found.body as ExitStatus;
  const isOrdered =
    kind === "killed" && reason !== LOST.reason && isSignalled(row.kind === "native", records);
  return { exit: { code, reason, kind }, isOrdered, at: found.at };
}

/** A verdict on a process of ours is the kernel's; a program of the host may have been ended by the host. */
function isSignalled(isNative: boolean, records: readonly JournalRecord[]): boolean {
  if (!isNative) return true;
  return records.some(
    ({ kind, body }) => kind === "signal" && ENDING_SIGNALS.has((body as { signal?: unknown }).signal),
  );
}
