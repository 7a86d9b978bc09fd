/** References to records, many of them in little space: runs of consecutive records of one process. */
import type { ProcUuid } from "../../abi/ids.ts";

export interface Ref {
  readonly proc: ProcUuid;
  readonly seq: number;
}

/** The records of one process: pairs of a first seq and the count of records from it without a gap. */
export interface RecordRange {
  readonly proc: ProcUuid;
  readonly seqs: readonly (readonly [first: number, count: number])[];
}

export function packRefs(refs: readonly Ref[]): RecordRange[] {
  const runs: { proc: ProcUuid; seqs: [number, number][] }[] = [];
  for (const { proc, seq } of refs) {
    let run = runs.at(-1);
    if (run?.proc !== proc) {
      run = { proc, seqs: [] };
      runs.push(run);
    }
    const last = run.seqs.at(-1);
    if (last !== undefined && last[0] + last[1] === seq) last[1]++;
    else run.seqs.push([seq, 1]);
  }
  return runs;
}

export function unpackRefs(runs: readonly RecordRange[]): Ref[] {
  const refs: Ref[] = [];
  for (const { proc, seqs } of runs)
    for (const [first, count] of seqs) for (let n = 0; n < count; n++) refs.push({ proc, seq: first + n });
  return refs;
}
