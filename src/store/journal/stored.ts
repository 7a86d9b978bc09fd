/** A row of `records`, as SQLite returns it and as the kernel receives it. */
import { asCallId, asPid, asProcUuid } from "../../abi/ids.ts";
import type { JournalRecord, RecordKind } from "../../kernel/ports/journal.ts";
import type { StoredRecord } from "./chain.ts";

/** Columns of a StoredRecord from `records r`. */
export const STORED_COLUMNS =
  "r.lsn, r.proc, r.pid, r.seq, r.epoch, r.kind, r.v, r.call, r.at, r.mono, r.body";

export function toStored(row: Record<string, unknown>): StoredRecord & { readonly kind: RecordKind } {
  return {
    lsn: Number(row.lsn),
    proc: String(row.proc),
    pid: Number(row.pid),
    seq: Number(row.seq),
    epoch: Number(row.epoch),
    kind: row.kind as RecordKind,
    v: Number(row.v),
    call: row.call === null ? null : String(row.call),
    at: Number(row.at),
    mono: Number(row.mono),
    body: String(row.body),
  };
}

export function toRecord(stored: StoredRecord, body: unknown): JournalRecord {
  const { lsn, seq, epoch, at, v, call } = stored;
  const proc = asProcUuid(stored.proc);
  const record = {
    lsn,
    seq,
    epoch,
    at,
    proc,
    pid: asPid(stored.pid),
    kind: stored.kind as RecordKind,
    v,
    body,
  };
  return call === null ? record : { ...record, call: asCallId(call) };
}
