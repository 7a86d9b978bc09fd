/** The tables of journal.db and their migration. Forward only: an older program leaves a newer file as it is. */
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Fault } from "../../abi/errors.ts";
import type { SparseKind } from "../../kernel/ports/journal.ts";
import { createPrivateFile } from "../directory.ts";
import { escapeBody, peekBody } from "../journal/body.ts";
import { chainHash } from "../journal/chain.ts";
import { factOf } from "../journal/fact.ts";
import { messageOf } from "../journal/record-kind.ts";
import { toStored } from "../journal/stored.ts";
import { Derived } from "./derived.ts";

export const SCHEMA_VERSION = 2;

/** `hash` and every column of `processes` change with their records, in one transaction (derived.ts). */
const RECORDS = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE records (
    lsn INTEGER PRIMARY KEY, proc TEXT NOT NULL, pid INTEGER NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL,
    kind TEXT NOT NULL, v INTEGER NOT NULL, call TEXT, at REAL NOT NULL, mono REAL NOT NULL, body TEXT NOT NULL, hash BLOB
  ) STRICT;
  CREATE UNIQUE INDEX history ON records (proc, seq);
  CREATE TABLE open_calls (
    proc TEXT NOT NULL, call TEXT NOT NULL, lsn INTEGER NOT NULL, PRIMARY KEY (proc, call)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * The index of each kind that queries select. An index that came later is made in an older file when that is opened, so
 * its kinds have one of their own.
 */
const INDEX_OF = {
  "process.spawned": "records_by_kind",
  "process.state": "records_by_kind",
  "process.forked": "records_by_kind",
  "grant.add": "records_by_kind",
  "journal.anchor": "records_by_kind",
  "journal.tombstone": "records_by_kind",
  "grant.remove": "records_of_rights",
  "grant.use": "records_of_rights",
  "mode.set": "records_of_rights",
  "process.note": "records_of_notes",
  "process.memory": "records_of_memory",
  "label.file": "records_of_labels",
} as const satisfies Readonly<Record<SparseKind | "journal.anchor" | "journal.tombstone", string>>;

type IndexedKind = keyof typeof INDEX_OF;
const KINDS = Object.keys(INDEX_OF) as readonly IndexedKind[];

/** The condition of the index of this kind; a query must contain this very text for the index to be used. */
export function indexedWith(kind: IndexedKind): string {
  const kinds = KINDS.filter((each) => INDEX_OF[each] === INDEX_OF[kind]);
  return `kind IN (${kinds.map((each) => `'${each}'`).join(",")})`;
}

const KIND_INDEXES = KINDS.map(
  (kind) =>
    `CREATE INDEX IF NOT EXISTS ${INDEX_OF[kind]} ON records (proc, kind, seq) WHERE ${indexedWith(kind)}`,
);

/**
 * The index of records by the client request that made them. A damaged body that is not JSON has no request, so that it
 * does not keep the daemon from starting. A query must contain both expressions for the index to be used.
 */
export const REQUEST_ID = "CASE WHEN json_valid(body) THEN json_extract(body, '$.request.id') END";
export const REQUEST_KINDS = "kind IN ('process.spawned','process.state','mail.put')";
const REQUEST_INDEX = `CREATE INDEX IF NOT EXISTS records_of_requests ON records (${REQUEST_ID})
  WHERE ${REQUEST_KINDS} AND ${REQUEST_ID} IS NOT NULL`;

/** Finds what a process has started. */
const PARENT_INDEX = "CREATE INDEX IF NOT EXISTS processes_parent ON processes (ppid)";

/** A row that an older program began has none: what it was before is not known. */
const LATER_COLUMN = { name: "micro_usd", type: "REAL" } as const;

/** Of tables that an older program has made. */
export function addLaterColumn(db: DatabaseSync): void {
  const { name, type } = LATER_COLUMN;
  const has = db.prepare("SELECT 1 FROM pragma_table_info('processes') WHERE name = ?").get(name);
  if (has === undefined) db.exec(`ALTER TABLE processes ADD COLUMN ${name} ${type}`);
}

const DERIVED = `
  CREATE TABLE processes (
    proc TEXT PRIMARY KEY, pid INTEGER NOT NULL, ppid INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    intent TEXT NOT NULL, cwd TEXT NOT NULL, is_session INTEGER NOT NULL, created_at REAL NOT NULL, last_at REAL NOT NULL,
    last_seq INTEGER NOT NULL, last_lsn INTEGER NOT NULL, last_hash BLOB NOT NULL, is_paused INTEGER NOT NULL,
    ran_ms REAL NOT NULL, tokens_used REAL NOT NULL, limit_used REAL NOT NULL, turns INTEGER NOT NULL,
    exit_code INTEGER, exit_reason TEXT, forked_from TEXT, forked_at INTEGER, title TEXT NOT NULL,
    is_kept INTEGER NOT NULL, damaged_at INTEGER, spawned_lsn INTEGER, state_lsn INTEGER,
    micro_usd REAL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX processes_pid ON processes (pid);
  CREATE INDEX processes_recent ON processes (last_lsn);
  CREATE INDEX processes_live ON processes (pid) WHERE spawned_lsn IS NOT NULL AND exit_code IS NULL;
  CREATE TABLE mail (
    proc TEXT NOT NULL, message INTEGER NOT NULL, lsn INTEGER NOT NULL, PRIMARY KEY (proc, message)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE members (
    proc TEXT NOT NULL, grp INTEGER NOT NULL, lsn INTEGER NOT NULL, PRIMARY KEY (proc, grp)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE snapshots (
    proc TEXT NOT NULL, seq INTEGER NOT NULL, state TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (proc, seq)
  ) STRICT;
  CREATE TABLE blob_refs (
    digest TEXT NOT NULL, proc TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (digest, proc, seq)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * Creates the tables if missing, migrates version 1, and raises the epoch; returns the new epoch and the kernel id. A
 * migration is one transaction, and a copy of the file is made beside it first. Errors: UNAVAILABLE for a newer schema.
 */
export function claimSchema(db: DatabaseSync, path: string): { epoch: number; kernelId: string } {
  if (versionOf(db) === 1) backUp(db, `${path}.v1.bak`);
  db.exec("BEGIN IMMEDIATE");
  try {
    const version = versionOf(db);
    if (version === 0) createTables(db);
    else if (version === 1) migrate(db);
    else assertKnown(version);
    addLaterColumn(db);
    for (const index of [...KIND_INDEXES, REQUEST_INDEX, PARENT_INDEX]) db.exec(index);
    const meta = readMeta(db);
    const epoch = Number(meta.get("epoch")) + 1;
    db.prepare("UPDATE meta SET value = ? WHERE key = 'epoch'").run(epoch);
    db.exec("COMMIT");
    return { epoch, kernelId: String(meta.get("kernel_id")) };
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** The identity for a reader: its epoch is that of the next daemon. Errors: UNAVAILABLE for any other schema. */
export function identityOf(db: DatabaseSync): { epoch: number; kernelId: string } {
  assertKnown(versionOf(db));
  const meta = readMeta(db);
  return { epoch: Number(meta.get("epoch")) + 1, kernelId: String(meta.get("kernel_id")) };
}

/** The schema version; 0: the journal does not exist yet. */
function versionOf(db: DatabaseSync): number {
  const exists = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined;
  return exists ? Number(readMeta(db).get("schema")) : 0;
}

function createTables(db: DatabaseSync): void {
  db.exec(RECORDS);
  db.exec(DERIVED);
  const put = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
  put.run("schema", SCHEMA_VERSION);
  put.run("kernel_id", randomUUID());
  for (const counter of ["epoch", "highest_pid", "highest_message"]) put.run(counter, 0);
}

function migrate(db: DatabaseSync): void {
  db.exec("DROP TABLE live; DROP INDEX IF EXISTS spawned; DROP INDEX IF EXISTS signals");
  db.exec("ALTER TABLE records ADD COLUMN hash BLOB");
  db.exec(DERIVED);
  db.exec("INSERT OR IGNORE INTO meta (key, value) VALUES ('highest_message', 0)");
  migrateToHashes(db, String(readMeta(db).get("kernel_id")));
  db.prepare("UPDATE meta SET value = ? WHERE key = 'schema'").run(SCHEMA_VERSION);
}

/**
 * Makes a copy that is either complete or absent: it gets its name once it is synced. An unfinished copy is replaced.
 */
function backUp(db: DatabaseSync, path: string): void {
  const part = `${path}.part`;
  rmSync(part, { force: true });
  createPrivateFile(dirname(path), part);
  db.prepare("VACUUM INTO ?").run(part);
  syncPath(part);
  renameSync(part, path);
  syncPath(dirname(path));
}

function syncPath(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function readMeta(db: DatabaseSync): Map<string, unknown> {
  const rows = db.prepare("SELECT key, value FROM meta").all();
  return new Map(rows.map((row) => [String(row.key), row.value]));
}

function assertKnown(version: number): void {
  if (version === SCHEMA_VERSION) return;
  const message =
    version > SCHEMA_VERSION
      ? `the journal was written by a newer crux (schema ${version}, this one knows ${SCHEMA_VERSION}): use that version or a newer one`
      : `the journal has no schema that this crux knows (${version})`;
  throw new Fault({ code: "UNAVAILABLE", message });
}

/** Records per page of the migration from version 1 to version 2. */
const PAGE = 256;

/** Gives every record its hash and fills the derived tables from the records. Runs in the caller's transaction. */
function migrateToHashes(db: DatabaseSync, kernelId: string): void {
  const next = db.prepare("SELECT * FROM records WHERE lsn > ? ORDER BY lsn LIMIT ?");
  const seal = db.prepare("UPDATE records SET body = ?, hash = ? WHERE lsn = ?");
  const derived = new Derived(db, kernelId);
  let [lsn, highestMessage] = [0, 0];
  for (let page = next.all(lsn, PAGE); page.length > 0; page = next.all(lsn, PAGE)) {
    for (const row of page) {
      const old = toStored(row);
      const record = { ...old, body: escapeBody(old.body) };
      const { kind, body } = record;
      const hash = chainHash(derived.row(record.proc).lastHash, record);
      const fact = factOf({ kind, body: peekBody(old.body) }) ?? null;
      seal.run(body, hash, record.lsn);
      derived.take({ ...record, hash }, fact, []);
      highestMessage = Math.max(highestMessage, messageOf(fact));
      lsn = record.lsn;
    }
    derived.flush();
  }
  db.prepare("UPDATE meta SET value = max(value, ?) WHERE key = 'highest_message'").run(highestMessage);
}
