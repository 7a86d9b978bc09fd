/** Answers reads from journal.db on a connection that never writes. */
import { hash } from "node:crypto";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { uuidHeadOf } from "../../abi/child.ts";
import { EXIT } from "../../abi/process.ts";
import type { RecordKind, RowFilter, SparseKind } from "../../kernel/ports/journal.ts";
import { toJournalFault } from "../fault.ts";
import { genesis, type StoredRecord } from "../journal/chain.ts";
import {
  boundedRows,
  type ChainedRecord,
  type LedgerReader,
  type PageBound,
  type Picked,
  type PickedRecord,
  type RecordList,
} from "../journal/ledger.ts";
import type { Row } from "../journal/row.ts";
import { STORED_COLUMNS, toStored } from "../journal/stored.ts";
import { fromColumns } from "./row-columns.ts";
import { indexedWith, REQUEST_ID, REQUEST_KINDS } from "./schema.ts";

const LIVE = "p.spawned_lsn IS NOT NULL AND p.exit_code IS NULL";
/** CROSS JOIN makes SQLite start from the live processes and never scan all records. */
const FROM_LIVE = (list: string) =>
  `SELECT ${STORED_COLUMNS} FROM processes p CROSS JOIN ${list} l ON l.proc = p.proc CROSS JOIN records r ON r.lsn = l.lsn
   WHERE ${LIVE} ORDER BY r.lsn`;

/** The pids of a process and of all below it. */
const BELOW = `WITH RECURSIVE line(pid) AS
  (VALUES (?) UNION SELECT c.pid FROM line CROSS JOIN processes c ON c.ppid = line.pid) SELECT pid FROM line`;

const SQL = {
  page: `SELECT ${STORED_COLUMNS}, r.hash FROM records r WHERE proc = ? AND seq >= ? ORDER BY seq LIMIT ?`,
  // CROSS JOIN makes SQLite follow the given seqs in their order
  pick: `SELECT ${STORED_COLUMNS}, r.hash, (SELECT b.hash FROM records b WHERE b.proc = r.proc AND b.seq = r.seq - 1) AS before
    FROM json_each(?) place CROSS JOIN records r ON r.proc = ? AND r.seq = place.value`,
  hash: "SELECT hash FROM records WHERE proc = ? AND seq = ?",
  openCalls: `SELECT ${STORED_COLUMNS} FROM open_calls o CROSS JOIN records r ON r.lsn = o.lsn ORDER BY o.lsn`,
  unfinished: `SELECT ${STORED_COLUMNS} FROM processes p CROSS JOIN records r ON r.lsn = p.spawned_lsn
    WHERE ${LIVE} ORDER BY p.pid`,
  liveStates: `SELECT ${STORED_COLUMNS} FROM processes p CROSS JOIN records r ON r.lsn = p.state_lsn
    WHERE ${LIVE} ORDER BY p.pid`,
  liveMail: FROM_LIVE("mail"),
  liveGroups: FROM_LIVE("members"),
  // starts from the unread messages: of those that have ended there are few
  endedMail: `SELECT ${STORED_COLUMNS} FROM mail l CROSS JOIN processes c ON c.proc = l.proc CROSS JOIN records r ON r.lsn = l.lsn
    WHERE c.exit_reason = '${EXIT.completed.reason}' AND c.spawned_lsn IS NOT NULL
    AND EXISTS (SELECT 1 FROM processes p WHERE p.pid = c.ppid AND ${LIVE}) ORDER BY r.lsn`,
  // searches from the end, because the wanted record is near it
  newest: `SELECT ${STORED_COLUMNS} FROM records r WHERE proc = ? AND kind = ? ORDER BY seq DESC LIMIT 1`,
  requested: `SELECT ${STORED_COLUMNS} FROM records r WHERE ${REQUEST_ID} = ? AND ${REQUEST_KINDS} ORDER BY lsn DESC LIMIT 1`,
  row: "SELECT * FROM processes WHERE proc = ?",
  lastSeq: "SELECT last_seq FROM processes WHERE proc = ?",
  processOf:
    "SELECT proc FROM processes WHERE pid = ? AND spawned_lsn IS NOT NULL ORDER BY last_lsn DESC LIMIT 1",
  snapshots: "SELECT seq, state, digest FROM snapshots WHERE proc = ? AND seq <= ? ORDER BY seq DESC",
} as const;

export class SqliteReader implements LedgerReader {
  readonly #db: DatabaseSync;
  readonly #kernelId: string;
  readonly #sql: Readonly<Record<keyof typeof SQL, StatementSync>>;
  /** By the condition of the index. */
  readonly #ofKind = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, kernelId: string) {
    this.#db = db;
    this.#kernelId = kernelId;
    const prepared = Object.entries(SQL).map(([name, text]) => [name, db.prepare(text)]);
    this.#sql = Object.fromEntries(prepared);
  }

  page(proc: string, fromSeq: number, { records, chars }: PageBound): readonly ChainedRecord[] {
    return guarded(() => bounded(this.#sql.page.iterate(proc, fromSeq, records), chars, toChained).records);
  }

  pick(proc: string, seqs: readonly number[], maxChars: number): Picked {
    return guarded(() => bounded(this.#sql.pick.iterate(JSON.stringify(seqs), proc), maxChars, toPicked));
  }

  hashBefore(proc: string, seq: number): Uint8Array | undefined {
    return guarded(() => {
      if (seq > 1) return this.#hashAt(proc, seq - 1);
      const forked = this.row(proc)?.forkedFrom ?? null;
      const plain = genesis(this.#kernelId, proc);
      return forked === null ? plain : (this.#hashAt(forked.proc, forked.at) ?? plain);
    });
  }

  list(name: RecordList): readonly StoredRecord[] {
    return this.#all(name);
  }

  ofKind(proc: string, kind: SparseKind): readonly StoredRecord[] {
    const indexed = indexedWith(kind);
    const text = `SELECT ${STORED_COLUMNS} FROM records r WHERE proc = ? AND kind = ? AND ${indexed} ORDER BY seq`;
    const statement = this.#ofKind.get(indexed) ?? this.#db.prepare(text);
    this.#ofKind.set(indexed, statement);
    return guarded(() => statement.all(proc, kind).map(toStored));
  }

  newest(proc: string, kind: RecordKind): readonly StoredRecord[] {
    return this.#all("newest", proc, kind);
  }

  requested(id: string): readonly StoredRecord[] {
    return this.#all("requested", id);
  }

  rows({ live, session, cwd, before, tree, agent, limit }: RowFilter): readonly Row[] {
    const terms = ["p.spawned_lsn IS NOT NULL"];
    const values: SQLInputValue[] = [];
    if (tree !== undefined) {
      terms.push(`p.pid IN (${BELOW})`);
      values.push(tree);
    }
    if (agent !== undefined) {
      terms.push("p.proc BETWEEN ? AND ? || '~'");
      values.push(uuidHeadOf(agent), uuidHeadOf(agent));
    }
    if (before !== undefined) {
      terms.push("p.pid < ?");
      values.push(before);
    }
    if (live === true) terms.push("p.exit_code IS NULL");
    if (live === false) terms.push("p.exit_code IS NOT NULL");
    if (session !== undefined) terms.push(`p.is_session = ${Number(session)}`);
    if (cwd !== undefined) {
      terms.push("p.cwd = ?");
      values.push(cwd);
    }
    const order = before === undefined ? "last_lsn" : "pid";
    const text = `SELECT * FROM processes p WHERE ${terms.join(" AND ")} ORDER BY p.${order} DESC LIMIT ?`;
    // SQLite reads a negative limit as no limit
    const most = limit === undefined && live === true ? -1 : boundedRows(limit);
    return guarded(() =>
      this.#db
        .prepare(text)
        .all(...values, most)
        .map(fromColumns),
    );
  }

  row(proc: string): Row | undefined {
    return guarded(() => {
      const found = this.#sql.row.get(proc);
      return found === undefined ? undefined : fromColumns(found);
    });
  }

  lastSeq(proc: string): number | undefined {
    return guarded(() => this.#sql.lastSeq.get(proc)?.last_seq as number | undefined);
  }

  processOf(pid: number): string | undefined {
    return guarded(() => this.#sql.processOf.get(pid)?.proc as string | undefined);
  }

  snapshots(proc: string, atMost: number): readonly { seq: number; state: string }[] {
    return guarded(() =>
      this.#sql.snapshots
        .all(proc, atMost)
        .map((found) => ({ seq: Number(found.seq), state: String(found.state), digest: found.digest }))
        .filter(({ state, digest }) => hash("sha256", state, "hex") === digest),
    );
  }

  close(): void {
    this.#db.close();
  }

  #hashAt(proc: string, seq: number): Uint8Array | undefined {
    const found = this.#sql.hash.get(proc, seq);
    return found === undefined ? undefined : bytesOf(found.hash);
  }

  #all(name: keyof typeof SQL, ...args: string[]): readonly StoredRecord[] {
    return guarded(() => this.#sql[name].all(...args).map(toStored));
  }
}

/** The first rows, up to `maxChars` of bodies, but at least one record. */
function bounded<R extends ChainedRecord>(
  rows: Iterable<Record<string, unknown>>,
  maxChars: number,
  of: (row: Record<string, unknown>) => R,
): { records: readonly R[]; isCut: boolean } {
  const records: R[] = [];
  let chars = 0;
  for (const row of rows) {
    const record = of(row);
    chars += record.body.length;
    if (records.length > 0 && chars > maxChars) return { records, isCut: true };
    records.push(record);
  }
  return { records, isCut: false };
}

function toChained(row: Record<string, unknown>): ChainedRecord {
  return { ...toStored(row), hash: bytesOf(row.hash) };
}

/** `before` is undefined if the previous record is missing or its hash was removed. */
function toPicked(row: Record<string, unknown>): PickedRecord {
  return {
    ...toStored(row),
    hash: bytesOf(row.hash),
    before: row.before instanceof Uint8Array ? row.before : undefined,
  };
}

/** A missing hash becomes empty bytes, which match no hash. */
function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array();
}

function guarded<T>(answer: () => T): T {
  try {
    return answer();
  } catch (error) {
    throw toJournalFault(error);
  }
}
