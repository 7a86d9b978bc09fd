/** Converts between a Row and the columns of `processes`. */
import type { SQLInputValue } from "node:sqlite";
import type { StoredRecord } from "../journal/chain.ts";
import type { Fact, SpawnedFact } from "../journal/fact.ts";
import type { Row } from "../journal/row.ts";

const COLUMNS = {
  proc: (row) => row.proc,
  pid: (row) => row.pid,
  ppid: (row) => row.spawned?.ppid ?? 0,
  kind: (row) => row.spawned?.kind ?? "",
  name: (row) => row.spawned?.name ?? "",
  intent: (row) => row.spawned?.intent ?? "",
  cwd: (row) => row.spawned?.cwd ?? "",
  is_session: (row) => Number(row.spawned?.isSession ?? false),
  created_at: (row) => row.createdAt,
  last_at: (row) => row.lastAt,
  last_seq: (row) => row.lastSeq,
  last_lsn: (row) => row.lastLsn,
  last_hash: (row) => row.lastHash,
  is_paused: (row) => Number(row.isPaused),
  ran_ms: (row) => row.ranMs,
  tokens_used: (row) => row.tokensUsed,
  limit_used: (row) => row.limitUsed,
  turns: (row) => row.turns,
  exit_code: (row) => row.exit?.code ?? null,
  exit_reason: (row) => row.exit?.reason ?? null,
  forked_from: (row) => row.forkedFrom?.proc ?? null,
  forked_at: (row) => row.forkedFrom?.at ?? null,
  title: (row) => row.title,
  is_kept: (row) => Number(row.isKept),
  damaged_at: (row) => row.damagedAt,
  spawned_lsn: (row) => (row.spawned === null ? null : row.spawnedLsn),
  state_lsn: (row) => (row.stateLsn === 0 ? null : row.stateLsn),
  micro_usd: (row) => row.microUsdUsed,
} satisfies Record<string, (row: Row) => SQLInputValue>;

const GETTERS: readonly ((row: Row) => SQLInputValue)[] = Object.values(COLUMNS);

export const PUT_ROW = `INSERT OR REPLACE INTO processes (${Object.keys(COLUMNS).join(", ")})
  VALUES (${GETTERS.map(() => "?").join(",")})`;

export function toColumns(row: Row): SQLInputValue[] {
  return GETTERS.map((get) => get(row));
}

/** The columns that most records change. They are in no index but `processes_recent`, the order by last record. */
const UPDATED = [
  ...(["last_at", "last_seq", "last_lsn", "last_hash", "is_paused", "ran_ms", "tokens_used"] as const),
  ...(["limit_used", "turns", "title", "is_kept", "state_lsn", "micro_usd"] as const),
];

export const UPDATE_ROW = `UPDATE processes SET ${UPDATED.map((name) => `${name} = ?`).join(", ")} WHERE proc = ?`;

export function toUpdated(row: Row): SQLInputValue[] {
  return [...UPDATED.map((name) => COLUMNS[name](row)), row.proc];
}

/** Whether the next record, with its `fact`, is the row's first or changes more columns than `UPDATED`. */
export function isWhole(row: Row, next: Pick<StoredRecord, "pid">, fact: Fact | null): boolean {
  if (row.lastSeq === 0 || row.pid !== next.pid) return true;
  return fact !== null && WHOLE.has(fact.is);
}

const WHOLE: ReadonlySet<Fact["is"]> = new Set(["spawned", "forked", "ended", "reaped", "resumed"]);

export function fromColumns(found: Record<string, unknown>): Row {
  return {
    proc: String(found.proc),
    pid: Number(found.pid),
    spawned: found.spawned_lsn === null ? null : spawnedOf(found),
    spawnedLsn: Number(found.spawned_lsn),
    stateLsn: Number(found.state_lsn),
    createdAt: Number(found.created_at),
    lastAt: Number(found.last_at),
    lastSeq: Number(found.last_seq),
    lastLsn: Number(found.last_lsn),
    lastHash: found.last_hash as Uint8Array,
    isPaused: found.is_paused === 1,
    ranMs: Number(found.ran_ms),
    tokensUsed: Number(found.tokens_used),
    microUsdUsed: typeof found.micro_usd === "number" ? found.micro_usd : null,
    limitUsed: Number(found.limit_used),
    turns: Number(found.turns),
    exit:
      found.exit_code === null ? null : { code: Number(found.exit_code), reason: String(found.exit_reason) },
    forkedFrom:
      found.forked_from === null ? null : { proc: String(found.forked_from), at: Number(found.forked_at) },
    title: String(found.title),
    isKept: found.is_kept === 1,
    damagedAt: found.damaged_at === null ? null : Number(found.damaged_at),
  };
}

function spawnedOf(found: Record<string, unknown>): SpawnedFact {
  return {
    ppid: Number(found.ppid),
    kind: String(found.kind),
    name: String(found.name),
    intent: String(found.intent),
    cwd: String(found.cwd),
    isSession: found.is_session === 1,
    createdAt: Number(found.created_at),
  };
}
