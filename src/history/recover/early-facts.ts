/** The facts needed of a process before its history is read; they come from a few records of separate kinds. */
import { Fault } from "../../abi/errors.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import { Facts, type RecordBody } from "../../kernel/facts/facet.ts";
import type { Journal, SparseKind } from "../../kernel/ports/journal.ts";
import { EARLY } from "./facets.ts";

const EARLY_KINDS = [...new Set(EARLY.flatMap(({ folds }) => Object.keys(folds)))] as SparseKind[];

/** Folds all its records of these kinds, or only those of seq 1 … `atMost`. */
export async function readEarly(
  journal: Pick<Journal, "ofKind">,
  proc: ProcUuid,
  atMost = Infinity,
): Promise<Facts> {
  const facts = new Facts();
  const records = (await Promise.all(EARLY_KINDS.map((kind) => journal.ofKind(proc, kind)))).flat();
  for (const { kind, seq, at, body } of records.sort((a, b) => a.seq - b.seq)) {
    if (seq > atMost) break;
    const place = { proc, seq, at, isFork: false };
    for (const facet of EARLY) facts.fold(facet, kind, (body ?? {}) as RecordBody, place);
  }
  return facts;
}

/** The early facts of a process that is not in memory. NOT_FOUND: the journal does not know it. */
export async function factsOf(journal: Pick<Journal, "ofKind" | "processOf">, pid: Pid): Promise<Facts> {
  const proc = await journal.processOf(pid);
  if (proc !== undefined) return readEarly(journal, proc);
  throw new Fault({
    code: "NOT_FOUND",
    message: `process not found: ${pid}`,
    fact: { kind: "no_history", pid },
  });
}
