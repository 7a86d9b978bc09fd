/**
 * The fold of the records of a process into its facts (process/facets.ts). Pure: takes records in their order. Facts
 * hold the places of records, not their bodies: so a long history folds into little, and a snapshot of the fold is
 * small. A record that cannot be fully read is an error, because its content would be missing from the process.
 */
import { Fault } from "../../abi/errors.ts";
import type { ProcUuid } from "../../abi/ids.ts";
import { type Facet, Facts, type Packed, type RecordBody } from "../../kernel/facts/facet.ts";
import type { JournalRecord, RecordKind } from "../../kernel/ports/journal.ts";
import { LATE } from "./facets.ts";

/** The content of a snapshot, as plain data. */
interface HistoryState extends Packed {
  /** The version of this format. */
  readonly v: 1;
  readonly lastSeq: number;
  readonly forkedFrom: ForkedFrom | null;
}

interface ForkedFrom {
  readonly proc: ProcUuid;
  readonly at: number;
}

export class History {
  readonly proc: ProcUuid;
  lastSeq = 0;
  forkedFrom: ForkedFrom | null = null;
  readonly #facts = new Facts();

  constructor(proc: ProcUuid) {
    this.proc = proc;
  }

  /** INVALID: the snapshot has another format. */
  static from(proc: ProcUuid, kept: unknown): History {
    const state = kept as HistoryState;
    if (state?.v !== 1) throw new Fault({ code: "INVALID", message: "a snapshot of another form" });
    const history = new History(proc);
    history.lastSeq = state.lastSeq;
    history.forkedFrom = state.forkedFrom;
    for (const facet of LATE) history.#facts.set(facet, facet.unpack(state));
    return history;
  }

  of<State>(facet: Facet<State>): State {
    return this.#facts.of(facet);
  }

  get state(): HistoryState {
    const { lastSeq, forkedFrom } = this;
    const packed: Packed[] = LATE.map((facet) => facet.pack(this.#facts.of(facet)));
    return Object.assign({ v: 1 as const, lastSeq, forkedFrom }, ...packed);
  }

  /** A fork takes from its origin, as of the fork, the facts that have a `fork` function, and no others. */
  remember(origin: History): void {
    for (const facet of LATE)
      if (facet.fork !== undefined) this.#facts.set(facet, facet.fork(origin.of(facet)));
  }

  /** INTERNAL: the record has an unknown version, or its body was too large to be kept. */
  take(record: JournalRecord): void {
    const { kind, seq, at } = record;
    const body = (record.body ?? {}) as RecordBody;
    if (KNOWN.has(kind)) checkReadable(record, body);
    if (kind === "process.forked") this.forkedFrom = { proc: body.from as ProcUuid, at: Number(body.at) };
    const place = { proc: this.proc, seq, at, isFork: this.forkedFrom !== null };
    for (const facet of FOLDING.get(kind) ?? SEEING) this.#facts.fold(facet, kind, body, place);
    this.lastSeq = seq;
  }
}

/** Record kinds that facts depend on. */
const KNOWN: ReadonlySet<string> = new Set([
  "process.forked",
  "process.state",
  ...LATE.flatMap(({ folds }) => Object.keys(folds)),
]);

/** Facets that look at every record, whatever its kind. */
const SEEING = LATE.filter(({ seen }) => seen !== undefined);
/** The facets to fold for a record of each kind: few for most kinds. */
const FOLDING: ReadonlyMap<string, typeof LATE> = new Map(
  [...KNOWN].map((kind) => [kind, LATE.filter(({ folds, seen }) => kind in folds || seen !== undefined)]),
);

/** The newest version of record bodies that have changed since version 1. */
const VERSIONS: Partial<Record<RecordKind, number>> = { "process.state": 2 };

function checkReadable({ kind, v, lsn }: JournalRecord, body: RecordBody): void {
  if (v < 1 || v > (VERSIONS[kind] ?? 1))
    throw unreadable(`record ${lsn} (${kind}) has version ${v}, which is not known here`);
  if ("omitted" in body) throw unreadable(`record ${lsn} (${kind}) was not kept: ${String(body.omitted)}`);
}

function unreadable(message: string): Fault {
  return new Fault({ code: "INTERNAL", message });
}
