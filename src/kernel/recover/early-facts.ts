/** What must be known of a process before its history is read: the facts that a few records of their own kinds tell. */
import type { ProcUuid } from "../../abi/ids.ts";
import { Facts, type RecordBody } from "../facts/facet.ts";
import type { Journal, SparseKind } from "../ports/journal.ts";
import { EARLY } from "../process/facets.ts";

const EARLY_KINDS = [...new Set(EARLY.flatMap(({ folds }) => Object.keys(folds)))] as SparseKind[];

/** By all its records, or by 1 … `atMost`. */
export async function readEarly(
  journal: Pick<Journal, "ofKind">,
  proc: ProcUuid,
  atMost = Infinity,
): Promise<Facts> {
  const facts = new Facts();
  const [forked] = await journal.ofKind(proc, "process.forked");
  if (forked !== undefined) {
    const { from, at } = forked.body as { from: ProcUuid; at: number };
    const origin = await readEarly(journal, from, at);
    for (const facet of EARLY) if (facet.fork !== undefined) facts.set(facet, facet.fork(origin.of(facet)));
  }
  const records = (await Promise.all(EARLY_KINDS.map((kind) => journal.ofKind(proc, kind)))).flat();
  for (const { kind, seq, at, body } of records.sort((a, b) => a.seq - b.seq)) {
    if (seq > atMost) break;
    const place = { proc, seq, at, isFork: forked !== undefined };
    for (const facet of EARLY) facts.fold(facet, kind, (body ?? {}) as RecordBody, place);
  }
  return facts;
}
