/**
 * Groups on their way to the writer thread, and its verdicts on their way back: columns instead of objects, because
 * cloning an object copies its keys each time. Fields that few records have (facts, blobs) are listed apart, by index.
 */
import type { Batch, BatchVerdict, Entry, RecordPosition, Refusal } from "./ledger.ts";

/** Count of numbers per record: process, kind, pid, v, at, mono; the first two are indexes into `words`. */
const WIDTH = 6;

/** Pairs of the index of a record (or batch) and its value. */
type Sparse<T> = readonly (readonly [number, T])[];

export interface PackedBatches {
  /** Two numbers per batch: its record count, and its `expect`, NaN if absent. */
  readonly sizes: Float64Array;
  readonly numbers: Float64Array;
  /** Process ids and kinds, each once. */
  readonly words: readonly string[];
  readonly calls: readonly (string | null)[];
  readonly bodies: readonly string[];
  readonly facts: Sparse<NonNullable<Entry["fact"]>>;
  readonly names: Sparse<Entry["names"]>;
  readonly blobs: Sparse<Entry["blobs"]>;
}

export interface PackedVerdicts {
  /** The lsn and seq of each committed record. */
  readonly places: Float64Array;
  /** The refusals, by index of the batch. */
  readonly refusals: Sparse<Refusal>;
}

export function packBatches(batches: readonly Batch[]): PackedBatches {
  const entries = batches.flatMap((batch) => batch.entries);
  const sizes = new Float64Array(batches.length * 2);
  for (const [n, batch] of batches.entries())
    sizes.set([batch.entries.length, batch.expect ?? Number.NaN], n * 2);
  const words = new Map<string, number>();
  const placeOf = (word: string): number => {
    const known = words.get(word);
    if (known !== undefined) return known;
    words.set(word, words.size);
    return words.size - 1;
  };
  const numbers = new Float64Array(entries.length * WIDTH);
  let at = 0;
  for (const entry of entries) {
    numbers[at++] = placeOf(entry.proc);
    numbers[at++] = placeOf(entry.kind);
    numbers[at++] = entry.pid;
    numbers[at++] = entry.v;
    numbers[at++] = entry.at;
    numbers[at++] = entry.mono;
  }
  return {
    sizes,
    numbers,
    words: [...words.keys()],
    calls: entries.map(({ call }) => call),
    bodies: entries.map(({ body }) => body),
    facts: sparse(entries, ({ fact }) => fact),
    names: sparse(entries, ({ names }) => (names.length === 0 ? null : names)),
    blobs: sparse(entries, ({ blobs }) => (blobs.length === 0 ? null : blobs)),
  };
}

export function unpackBatches(packed: PackedBatches): Batch[] {
  const { sizes, bodies } = packed;
  const [facts, names, blobs] = [new Map(packed.facts), new Map(packed.names), new Map(packed.blobs)];
  const entries = bodies.map((body, n): Entry => {
    const [proc, kind, pid, v, at, mono] = packed.numbers.subarray(n * WIDTH, (n + 1) * WIDTH);
    return {
      proc: packed.words[proc as number] as string,
      kind: packed.words[kind as number] as Entry["kind"],
      pid: pid as number,
      v: v as number,
      at: at as number,
      mono: mono as number,
      call: packed.calls[n] ?? null,
      body,
      fact: facts.get(n) ?? null,
      names: names.get(n) ?? NONE,
      blobs: blobs.get(n) ?? NONE,
    };
  });
  const batches: Batch[] = [];
  let first = 0;
  for (let n = 0; n < sizes.length; n += 2) {
    const own = entries.slice(first, first + (sizes[n] as number));
    const expect = sizes[n + 1] as number;
    first += own.length;
    batches.push(Number.isNaN(expect) ? { entries: own } : { entries: own, expect });
  }
  return batches;
}

const NONE: readonly never[] = [];

export function packVerdicts(verdicts: readonly BatchVerdict[]): PackedVerdicts {
  const taken = verdicts.filter((verdict) => !("code" in verdict)).flat() as RecordPosition[];
  const places = new Float64Array(taken.length * 2);
  let at = 0;
  for (const { lsn, seq } of taken) {
    places[at++] = lsn;
    places[at++] = seq;
  }
  return { places, refusals: sparse(verdicts, (verdict) => ("code" in verdict ? verdict : null)) };
}

/** `batches`: the batches that the verdicts belong to. */
export function unpackVerdicts(packed: PackedVerdicts, batches: readonly Batch[]): BatchVerdict[] {
  const refusals = new Map(packed.refusals);
  let at = 0;
  const nextPlace = (): RecordPosition => ({
    lsn: packed.places[at++] as number,
    seq: packed.places[at++] as number,
  });
  return batches.map(({ entries }, n) => refusals.get(n) ?? entries.map(nextPlace));
}

function sparse<T, V>(list: readonly T[], of: (each: T) => V | null): Sparse<V> {
  const found: [number, V][] = [];
  for (const [n, each] of list.entries()) {
    const value = of(each);
    if (value !== null) found.push([n, value]);
  }
  return found;
}
