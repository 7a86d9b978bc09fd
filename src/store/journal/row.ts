/** The summary row of a process, folded from its records in the same way by every ledger. */
import { asPid, asProcUuid } from "../../abi/ids.ts";
import type { ProcessKind } from "../../abi/process.ts";
import type { ProcessRow } from "../../kernel/ports/journal.ts";
import type { Fact, SpawnedFact } from "./fact.ts";

/** The summary of a process, and the end of its history. 0 and null: no value yet. */
export interface Row {
  readonly proc: string;
  pid: number;
  spawned: SpawnedFact | null;
  spawnedLsn: number;
  /** The lsn of the newest `process.state`; 0: none yet. */
  stateLsn: number;
  createdAt: number;
  lastAt: number;
  lastSeq: number;
  lastLsn: number;
  lastHash: Uint8Array;
  isPaused: boolean;
  ranMs: number;
  tokensUsed: number;
  /** null: the row was begun by a program that did not sum it. */
  microUsdUsed: number | null;
  limitUsed: number;
  turns: number;
  exit: { readonly code: number; readonly reason: string } | null;
  forkedFrom: { readonly proc: string; readonly at: number } | null;
  title: string;
  isKept: boolean;
  damagedAt: number | null;
}

/** The row before the first record. `lastHash` is where its hash chain begins (chain.ts). */
export function emptyRow(proc: string, lastHash: Uint8Array): Row {
  return {
    proc,
    pid: 0,
    spawned: null,
    spawnedLsn: 0,
    stateLsn: 0,
    createdAt: 0,
    lastAt: 0,
    lastSeq: 0,
    lastLsn: 0,
    lastHash,
    isPaused: false,
    ranMs: 0,
    tokensUsed: 0,
    microUsdUsed: 0,
    limitUsed: 0,
    turns: 0,
    exit: null,
    forkedFrom: null,
    title: "",
    isKept: false,
    damagedAt: null,
  };
}

/** Applies the next record of the process to its row. */
export function foldRow(
  row: Row,
  last: { pid: number; lsn: number; seq: number; at: number },
  fact: Fact | null,
): void {
  if (row.createdAt === 0) row.createdAt = last.at;
  row.pid = last.pid;
  row.lastAt = last.at;
  row.lastSeq = last.seq;
  row.lastLsn = last.lsn;
  if (fact !== null) apply(row, last.lsn, fact);
}

function apply(row: Row, lsn: number, fact: Fact): void {
  switch (fact.is) {
    case "spawned":
      begin(row, lsn, fact.spawned);
      return;
    case "forked":
      // only the first record says where a history begins
      if (row.lastSeq === 1) row.forkedFrom = { proc: fact.from, at: fact.at };
      return;
    case "ended":
      row.exit = { code: fact.code, reason: fact.reason };
      return;
    case "reaped":
      row.exit ??= { code: 137, reason: "lost" };
      return;
    case "resumed":
      row.exit = null;
      if (fact.isSession && row.spawned !== null) row.spawned = { ...row.spawned, isSession: true };
      return;
    case "described":
      row.title = fact.title ?? row.title;
      row.isKept = fact.isKept ?? row.isKept;
      return;
    case "state":
      row.stateLsn = lsn;
      return;
    case "signal":
      row.isPaused = fact.isPaused;
      row.ranMs = fact.ranMs ?? row.ranMs;
      return;
    case "spent":
      row.tokensUsed += fact.tokens;
      if (row.microUsdUsed !== null) row.microUsdUsed += fact.microUsd;
      return;
    case "limit":
      row.limitUsed = fact.used;
      return;
    case "turn":
      row.turns += 1;
      return;
    case "mail":
    case "read":
    case "joined":
    case "left":
      return;
  }
}

function begin(row: Row, lsn: number, spawned: SpawnedFact): void {
  row.spawned = spawned;
  row.spawnedLsn = lsn;
  row.exit = null;
  row.createdAt = spawned.createdAt ?? row.createdAt;
  if (spawned.kind === "agent" && spawned.intent !== "") row.turns += 1;
}

/** undefined: the process was never spawned (the kernel, or a failed spawn). */
export function toProcessRow(row: Row): ProcessRow | undefined {
  const { spawned, forkedFrom } = row;
  if (spawned === null) return undefined;
  return {
    proc: asProcUuid(row.proc),
    pid: asPid(row.pid),
    ppid: asPid(spawned.ppid),
    kind: spawned.kind as ProcessKind,
    name: spawned.name,
    intent: spawned.intent,
    cwd: spawned.cwd,
    isSession: spawned.isSession,
    createdAt: row.createdAt,
    lastAt: row.lastAt,
    lastSeq: row.lastSeq,
    isPaused: row.isPaused,
    ranMs: row.ranMs,
    tokensUsed: row.tokensUsed,
    microUsdUsed: row.microUsdUsed,
    limitUsed: row.limitUsed,
    turns: row.turns,
    exit: row.exit,
    forkedFrom: forkedFrom === null ? null : { proc: asProcUuid(forkedFrom.proc), at: forkedFrom.at },
    title: row.title,
    isKept: row.isKept,
    damagedAt: row.damagedAt,
  };
}
