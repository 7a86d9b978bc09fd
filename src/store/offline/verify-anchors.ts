/** Checks the roots stored in the journal, and those stored elsewhere, against the existing records. */
import { KERNEL_UUID } from "../../kernel/ports/journal.ts";
import type { Anchor, Finding } from "../../kernel/ports/journal-tools.ts";
import { anchorRoot, type Tail } from "../journal/chain.ts";
import type { HashedRecord, ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";
import type { ChainTail } from "./verify-chain.ts";
import type { Removed } from "./verify-removed.ts";

/** The `previous` of the first anchor. */
const NO_ROOT = "";

interface Expected extends Anchor {
  readonly isKeptElsewhere: boolean;
}

/** undefined: the record cannot be read as an anchor. */
export function anchorOf({ at, body }: Pick<HashedRecord, "at" | "body">): Anchor | undefined {
  try {
    const { lsn, root, previous } = JSON.parse(body) as Partial<Anchor> & { previous?: string | null };
    if (typeof lsn !== "number" || typeof root !== "string") return undefined;
    return { lsn, root, previous: previous ?? NO_ROOT, at };
  } catch {
    return undefined;
  }
}

/** The anchors of the journal by rising lsn, in pages. */
export async function* readAnchors(db: ToolsDatabase, pace: Pace): AsyncGenerator<readonly Anchor[]> {
  for (let seq = 0; ; ) {
    const page = db.ofKind(KERNEL_UUID, "journal.anchor", seq);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.flatMap((record) => anchorOf(record) ?? []);
    seq = last.seq;
    await pace.next();
  }
}

export class AnchorCheck {
  /** The journal's own anchors checked so far. */
  count = 0;
  last: Anchor | null = null;
  /** Roots that cannot be recomputed. */
  unchecked = 0;
  readonly #removed: readonly Removed[];
  readonly #expected: readonly Expected[];
  #next = 0;

  constructor(own: readonly Anchor[], elsewhere: readonly Anchor[], removed: readonly Removed[]) {
    this.#removed = removed;
    const all = [
      ...own.map((anchor) => ({ ...anchor, isKeptElsewhere: false })),
      ...elsewhere.map((anchor) => ({ ...anchor, isKeptElsewhere: true })),
    ];
    this.#expected = all.sort(
      (a, b) => a.lsn - b.lsn || Number(a.isKeptElsewhere) - Number(b.isKeptElsewhere),
    );
  }

  /** Checks the anchors below `nextLsn`, whose records are all in `tails`. Returns the first failure. */
  upTo(nextLsn: number, tails: ReadonlyMap<string, ChainTail>): Finding | undefined {
    for (;;) {
      const expected = this.#expected[this.#next];
      if (expected === undefined || expected.lsn >= nextLsn) return undefined;
      this.#next++;
      const finding = this.#check(expected, tails);
      if (finding !== undefined) return finding;
    }
  }

  /** Called after the last record: a remaining anchor covers records that are missing. */
  end(lastLsn: number): Finding | undefined {
    const expected = this.#expected[this.#next];
    if (expected === undefined) return undefined;
    const what = `the root at lsn ${expected.lsn} was made when there were more records`;
    return broken(lastLsn + 1, `${what}: the journal ends at lsn ${lastLsn}`);
  }

  #check(expected: Expected, tails: ReadonlyMap<string, ChainTail>): Finding | undefined {
    const { lsn, root, previous, isKeptElsewhere } = expected;
    if (isKeptElsewhere) {
      if (this.last?.lsn === lsn && this.last.root !== root)
        return broken(lsn, `the root at lsn ${lsn} is not the one that was kept elsewhere`);
    } else {
      if (previous !== (this.last?.root ?? NO_ROOT))
        return broken(lsn, `the root at lsn ${lsn} does not name the root before it`);
      this.count++;
      this.last = { lsn, root, previous, at: expected.at };
    }
    const found = this.#rootAt(lsn, previous, tails);
    if (found === undefined) this.unchecked++;
    else if (found !== root)
      return broken(
        lsn,
        `the records up to lsn ${lsn} are not those that ${whose(isKeptElsewhere)} was made of`,
      );
    return undefined;
  }

  /** undefined: the root covers records that were removed since, and their hashes at that lsn are unknown. */
  #rootAt(lsn: number, previous: string, tails: ReadonlyMap<string, ChainTail>): string | undefined {
    const all: Tail[] = [...tails].map(([proc, { seq, hash }]) => ({ proc, seq, hash }));
    for (const removed of this.#removed) {
      if (removed.lsn <= lsn || removed.first > lsn) continue;
      if (removed.tail === undefined || removed.last > lsn) return undefined;
      // an interrupted removal may have left some records
      const left = all.findIndex(({ proc }) => proc === removed.proc);
      if (left >= 0) all.splice(left, 1);
      all.push(removed.tail);
    }
    const before = previous === NO_ROOT ? null : Buffer.from(previous, "hex");
    return Buffer.from(anchorRoot(all, before)).toString("hex");
  }
}

function whose(isKeptElsewhere: boolean): string {
  return isKeptElsewhere ? "the root that was kept elsewhere" : "the root in the journal";
}

function broken(lsn: number, detail: string): Finding {
  return { code: "bad_anchor", severity: "damage", lsn, detail };
}
