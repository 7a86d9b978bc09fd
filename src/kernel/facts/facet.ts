/**
 * A durable fact of a process: what it is at first, and what the records of the process make of it. One file beside its owner,
 * one row in history/recover/facets.ts. Whatever brings a process back (boot, wake, fork, a snapshot) folds its records with this; who changes
 * a fact of a live process does so by a record, folded by the same function.
 */
import type { ProcUuid } from "../../abi/ids.ts";
import type { RecordKind } from "../ports/journal.ts";

export type RecordBody = Readonly<Record<string, unknown>>;

/** The place of a record. */
export interface Place {
  readonly proc: ProcUuid;
  readonly seq: number;
  /** Wall clock, ms. */
  readonly at: number;
  /** The process was made as a copy of another. */
  readonly isFork: boolean;
}

/** The packed state of all facets in a snapshot: plain data by the keys that each facet has. */
export type Packed = Readonly<Record<string, unknown>>;

/** Methods, so that facets of all states stand in one list. */
interface Fold<State> {
  of(now: State, body: RecordBody, place: Place): State;
  ofLive(now: State, body: RecordBody): State;
}

export interface Facet<State> {
  init(): State;
  /** Pure, but that a fold may change what it was given and return it. */
  readonly folds: Readonly<Partial<Record<RecordKind, Fold<State>["of"]>>>;
  /** What each record of a history comes to, of whatever kind, after that. */
  seen?(now: State, place: Place): State;
  /** Its keys in a snapshot; none where it is as at first. A key keeps its meaning for good. */
  pack(now: State): Packed;
  /** The state from a snapshot; one of an earlier version may lack its keys. */
  unpack(kept: Packed): State;
  /** What a fork inherits, from the state at the place of the fork. Absent: a fork begins with `init`. */
  fork?(origin: State): State;
  /** The first record of a fork, by what the origin has now, wherever the fork begins. undefined: it needs none. */
  carry?(origin: State): { readonly kind: RecordKind; readonly body: object } | undefined;
  /** Few records by nature: read by their kinds, without the rest of the history, as soon as the process is there. */
  readonly isEarly?: true;
  /** The process holds it while it lives. */
  readonly isHeld?: true;
  /** Joins what a process holds already with what was read later from its history. Absent: what was read replaces it. */
  join?(now: State, read: State): State;
}

/** A facet that a live process holds too: its records contain everything that they change. */
export interface LiveFacet<State> extends Facet<State> {
  readonly folds: Readonly<Partial<Record<RecordKind, Fold<State>["ofLive"]>>>;
}

interface PlainFacet<State> extends Omit<LiveFacet<State>, "init" | "pack" | "unpack"> {
  readonly init: State;
  /** Reads the packed state; absent: it is the state itself. */
  read?(kept: unknown): State;
}

/** A facet whose state is plain data under one key; it is replaced as a whole. */
export function plainFacet<State>(
  key: string,
  { init, read = (kept) => kept as State, ...more }: PlainFacet<State>,
): LiveFacet<State> {
  return {
    ...more,
    init: () => init,
    pack: (now) => (now === init ? {} : { [key]: now }),
    unpack: (kept) => (kept[key] === undefined ? init : read(kept[key])),
  };
}

/** The facts of one process. */
export class Facts {
  readonly #held = new Map<object, unknown>();

  of<State>(facet: Facet<State>): State {
    if (!this.#held.has(facet)) this.#held.set(facet, facet.init());
    return this.#held.get(facet) as State;
  }

  set<State>(facet: Facet<State>, state: State): void {
    this.#held.set(facet, state);
  }

  /** Takes over the state of these facets from others. */
  adopt(facets: readonly Facet<unknown>[], others: Pick<Facts, "of">): void {
    for (const facet of facets) {
      const read = others.of(facet);
      this.set(facet, facet.join?.(this.of(facet), read) ?? read);
    }
  }

  /** Applies a record of the process. */
  fold(facet: Facet<unknown>, kind: RecordKind, body: RecordBody, place: Place): void {
    const fold = facet.folds[kind];
    if (fold !== undefined) this.set(facet, fold(this.of(facet), body, place));
    if (facet.seen !== undefined) this.set(facet, facet.seen(this.of(facet), place));
  }

  /** Changes the state as the record will when a later daemon reads it. The caller journals the record. Returns the new state. */
  change<State>(facet: LiveFacet<State>, kind: RecordKind, body: object): State {
    const fold = facet.folds[kind];
    const now = fold === undefined ? this.of(facet) : fold(this.of(facet), body as RecordBody);
    this.set(facet, now);
    return now;
  }
}
