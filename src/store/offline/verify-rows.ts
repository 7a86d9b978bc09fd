/** Checks the process rows against the existing records: a history whose end is missing still has its row. */
import { asPid, asProcUuid } from "../../abi/ids.ts";
import type { Finding } from "../../kernel/ports/journal-tools.ts";
import { PAGE_ROWS, type ToolsDatabase } from "./database.ts";
import type { Pace } from "./pace.ts";

// one statement sees one consistent state, despite concurrent writes
const SHORT = `SELECT proc, pid, last_seq, last_lsn,
    (SELECT coalesce(max(seq), 0) FROM records WHERE records.proc = page.proc) AS found
  FROM (SELECT * FROM processes WHERE proc > ? ORDER BY proc LIMIT ${PAGE_ROWS}) AS page`;

/** The first row, by the lsn of its last record, whose last records are missing. */
export async function shortRow(db: ToolsDatabase, pace: Pace): Promise<Finding | undefined> {
  let first: Finding | undefined;
  for await (const { proc, pid, seq, lsn, found } of rowsAgainstTails(db, pace)) {
    if (seq <= found || (first?.lsn !== undefined && first.lsn <= lsn)) continue;
    const detail = missingText(found, seq);
    const whose = { pid: asPid(pid), proc: asProcUuid(proc) };
    first = { code: "gap", severity: "damage", ...whose, seq: found + 1, lsn, detail };
  }
  return first;
}

export function missingText(found: number, last: number): string {
  return found === 0
    ? `all of its ${last} records are missing`
    : `its last records are missing: it had ${last}, ${found} are there`;
}

interface RowAgainstTail {
  readonly proc: string;
  readonly pid: number;
  /** The last seq, according to the row. */
  readonly seq: number;
  readonly lsn: number;
  /** The seq of the last existing record; 0: none. */
  readonly found: number;
}

export async function* rowsAgainstTails(db: ToolsDatabase, pace: Pace): AsyncGenerator<RowAgainstTail> {
  for (let after = ""; ; ) {
    const rows = db.sql(SHORT).all(after);
    for (const row of rows) {
      after = String(row.proc);
      yield {
        proc: after,
        pid: Number(row.pid),
        seq: Number(row.last_seq),
        lsn: Number(row.last_lsn),
        found: Number(row.found),
      };
    }
    if (rows.length < PAGE_ROWS) return;
    await pace.next();
  }
}
