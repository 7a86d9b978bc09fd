/** The row of a process, computed from its records, for a journal in memory. */
import { asPid, type ProcUuid } from "../../abi/ids.ts";
import { microUsd } from "../../lib/usd.ts";
import type { JournalRecord, ProcessRow } from "../ports/journal.ts";

type Row = { -readonly [K in keyof ProcessRow]: ProcessRow[K] };

/** The fields of the bodies of all kinds; each body has some of them. */
interface Body {
  readonly ppid?: number;
  readonly kind?: ProcessRow["kind"];
  readonly intent?: string;
  readonly agent?: string | null;
  readonly cwd?: string;
  readonly isSession?: boolean;
  readonly createdAt?: number;
  readonly from: ProcUuid;
  readonly at: number;
  readonly code: number;
  readonly reason: string;
  readonly resumed?: boolean;
  readonly title?: string;
  readonly kept?: boolean;
  readonly paused?: boolean;
  readonly ranMs?: number;
  readonly used: number;
  readonly role?: string;
  readonly cost?: { readonly tokens: number; readonly usd?: number | null };
}

/** undefined: it was never spawned. `records`: all of one process, in order. */
export function rowOf(records: readonly JournalRecord[]): ProcessRow | undefined {
  const spawned = records.find(({ kind }) => kind === "process.spawned");
  if (spawned === undefined) return undefined;
  const row = firstRow(spawned);
  for (const { kind, body, seq, at } of records) {
    row.lastSeq = seq;
    row.lastAt = at;
    FOLDS[kind]?.(row, body as Body);
  }
  return row;
}

function firstRow({ proc, pid, body }: JournalRecord): Row {
  const { ppid = 0, kind = "agent", intent = "", agent, cwd = "", isSession, createdAt = 0 } = body as Body;
  return {
    proc,
    pid,
    ppid: asPid(ppid),
    kind,
    name: agent ?? "",
    intent: intent.slice(0, 200),
    cwd,
    isSession: isSession === true,
    createdAt,
    lastAt: 0,
    lastSeq: 0,
    isPaused: false,
    ranMs: 0,
    tokensUsed: 0,
    limitUsed: 0,
    microUsdUsed: 0,
    turns: 0,
    exit: null,
    forkedFrom: null,
    title: "",
    isKept: false,
    damagedAt: null,
  };
}

const FOLDS: Partial<Record<JournalRecord["kind"], (row: Row, body: Body) => void>> = {
  "process.forked": (row, { from, at }) => {
    row.forkedFrom = { proc: from, at };
  },
  "process.exited": (row, { code, reason }) => {
    row.exit = { code, reason };
  },
  "process.failed": (row) => {
    row.exit = { code: 1, reason: "" };
  },
  "process.recovered": (row, { resumed, isSession }) => {
    if (resumed === true) row.exit = null;
    if (isSession === true) row.isSession = true;
  },
  "process.described": (row, { title, kept }) => {
    row.title = title ?? row.title;
    row.isKept = kept ?? row.isKept;
  },
  signal: (row, { paused, ranMs }) => {
    row.isPaused = paused === true;
    row.ranMs = ranMs ?? row.ranMs;
  },
  "call.result": spend,
  "call.unknown": spend,
  "acct.settle": (row, { used }) => {
    row.limitUsed = used;
  },
  "ctx.record": (row, { role }) => {
    if (role === "user") row.turns += 1;
  },
};

function spend(row: Row, { cost }: Body): void {
  row.tokensUsed += cost?.tokens ?? 0;
  row.microUsdUsed = (row.microUsdUsed ?? 0) + microUsd(cost?.usd ?? 0);
}
