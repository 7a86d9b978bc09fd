/** The tables of journal.db and who they belong to. Forward only: an older program leaves a newer file as it is. */
import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { Fault } from "../abi/errors.ts";

const SCHEMA_VERSION = 1;

const TABLES = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE records (
    lsn INTEGER PRIMARY KEY, proc TEXT NOT NULL, pid INTEGER NOT NULL, seq INTEGER NOT NULL, epoch INTEGER NOT NULL,
    kind TEXT NOT NULL, v INTEGER NOT NULL, call TEXT, at REAL NOT NULL, mono REAL NOT NULL, body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX history ON records (proc, seq);
  CREATE TABLE open_calls (
    proc TEXT NOT NULL, call TEXT NOT NULL, lsn INTEGER NOT NULL, PRIMARY KEY (proc, call)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE live (proc TEXT PRIMARY KEY, pid INTEGER NOT NULL, lsn INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** Not part of the schema's version: a program that does not know them keeps them all the same. */
const INDEXES = `
  CREATE INDEX IF NOT EXISTS spawned ON records (pid) WHERE kind = 'process.spawned';
  CREATE INDEX IF NOT EXISTS signals ON records (proc, seq) WHERE kind = 'signal';
  INSERT OR IGNORE INTO meta (key, value) VALUES ('highest_message', 0);
`;

/** Makes the tables where there are none, raises the epoch, tells both names. Errors: UNAVAILABLE for a newer schema. */
export function claimSchema(db: DatabaseSync): { epoch: number; kernelId: string } {
  db.exec("BEGIN IMMEDIATE");
  try {
    const exists = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined;
    if (!exists) createTables(db);
    const meta = readMeta(db);
    assertKnown(Number(meta.get("schema")));
    db.exec(INDEXES);
    const epoch = Number(meta.get("epoch")) + 1;
    db.prepare("UPDATE meta SET value = ? WHERE key = 'epoch'").run(epoch);
    db.exec("COMMIT");
    return { epoch, kernelId: String(meta.get("kernel_id")) };
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function createTables(db: DatabaseSync): void {
  db.exec(TABLES);
  const put = db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
  put.run("schema", SCHEMA_VERSION);
  put.run("kernel_id", randomUUID());
  put.run("epoch", 0);
  put.run("highest_pid", 0);
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
