/** Reads the records of a process, page by page: a history may be long. */
import { Fault } from "../../abi/errors.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import type { Journal, JournalRecord } from "../ports/journal.ts";
import type { Ref } from "./refs.ts";

/** The number of records per read: other work is let in after each, and one of 256 would take 10 ms. */
const PAGE = 64;

/** The records of a process from `fromSeq` on, in order. */
export async function* recordsOf(
  journal: Pick<Journal, "read">,
  uuid: ProcUuid,
  fromSeq = 1,
): AsyncGenerator<JournalRecord> {
  for (let from = fromSeq; ; ) {
    const page = await journal.read(uuid, from, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    from = last.seq + 1;
    await breath();
  }
}

function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Maps the records at `refs`, holding no more than one page of records at a time. */
export async function eachAt<T>(
  journal: Pick<Journal, "readAt">,
  refs: readonly Ref[],
  take: (record: JournalRecord) => T,
): Promise<readonly T[]> {
  const found: T[] = [];
  while (found.length < refs.length) {
    const [first, ...more] = stretch(refs, found.length);
    if (first === undefined) break;
    const page = await journal.readAt(first.proc, [first.seq, ...more.map(({ seq }) => seq)]);
    if (page.length === 0) throw missing(first);
    for (const record of page) found.push(take(record));
    if (found.length < refs.length) await breath();
  }
  return found;
}

/** The refs from `at` on that one read can return: those of one process, by rising seq, at most a page. */
function stretch(refs: readonly Ref[], at: number): readonly Ref[] {
  const first = refs[at];
  let end = at + 1;
  for (; first !== undefined && end < refs.length && end < at + PAGE; end++) {
    const [before, ref] = [refs[end - 1], refs[end]];
    if (before === undefined || ref?.proc !== first.proc || ref.seq <= before.seq) break;
  }
  return refs.slice(at, end);
}

export function missing({ proc, seq }: Ref): Fault {
  return new Fault({ code: "INTERNAL", message: `record ${seq} of ${proc} is missing` });
}
