/**
 * All records a process builds on, oldest first: for a fork, also those of its origin up to the fork, and so on back.
 */
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { Journal, JournalRecord } from "../../kernel/ports/journal.ts";
import { forkError } from "./fork-error.ts";

/** The records 1 … `to` of a history. */
interface Stretch {
  readonly proc: ProcUuid;
  readonly to: number;
}

const PAGE = 256;

/** Oldest first. The loop ends: the origin of a fork is always older than the fork. */
export async function stretchesOf(journal: Journal, uuid: ProcUuid): Promise<readonly Stretch[]> {
  const stretches: Stretch[] = [];
  for (let next: Stretch | undefined = { proc: uuid, to: Number.POSITIVE_INFINITY }; next !== undefined; ) {
    stretches.unshift(next);
    const [forked]: readonly JournalRecord[] = await journal.ofKind(next.proc, "process.forked");
    const body = forked?.body as { from: ProcUuid; at: number } | undefined;
    next = body === undefined ? undefined : { proc: body.from, to: body.at };
  }
  return stretches;
}

/** CONFLICT: a part of the lineage is damaged. NOT_FOUND: a part of it was removed. */
export async function* recordsOfLineage(journal: Journal, uuid: ProcUuid): AsyncGenerator<JournalRecord> {
  for (const { proc, to } of await stretchesOf(journal, uuid)) {
    for (let from = 1; from <= to; ) {
      const page = await readPage(journal, proc, from);
      const last = page.at(-1);
      if (last === undefined) {
        if (Number.isFinite(to) || from === 1) throw gone();
        break;
      }
      for (const record of page) if (record.seq <= to) yield record;
      from = last.seq + 1;
      // yields to other work between the pages of a long history
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

async function readPage(journal: Journal, proc: ProcUuid, from: number): Promise<readonly JournalRecord[]> {
  try {
    return await journal.read(proc, from, PAGE);
  } catch (error) {
    if (codeOf(error) !== "INTERNAL") throw error;
    throw forkError("CONFLICT", `its history is damaged: ${messageOf(error)}`, {
      kind: "damaged",
      pid: null,
    });
  }
}

function gone(): Error {
  return forkError("NOT_FOUND", "its history is gone", { kind: "no_history", pid: 0 });
}
