/** From version 1 of the schema to version 2: every record gets its hash, and the derived tables are made from the records. */
import type { DatabaseSync } from "node:sqlite";
import { escapeBody, peekBody } from "../journal/body.ts";
import { chainHash } from "../journal/chain.ts";
import { Derived } from "../journal/derived.ts";
import { factOf } from "../journal/fact.ts";
import { messageOf } from "../journal/record-kind.ts";
import { toStored } from "./stored.ts";

const PAGE = 256;

/** Inside the caller's transaction. */
export function migrateToHashes(db: DatabaseSync, kernelId: string): void {
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
      derived.take(record, hash, fact, []);
      highestMessage = Math.max(highestMessage, messageOf(fact));
      lsn = record.lsn;
    }
    derived.flush();
  }
  db.prepare("UPDATE meta SET value = max(value, ?) WHERE key = 'highest_message'").run(highestMessage);
}
