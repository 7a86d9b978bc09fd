/**
 * The agents panel: the one way from what runs to rows, counters and keys. Pure: a client keeps the marks and the state,
 * passes in the time, and draws.
 */

import type { AgentColor } from "../process.ts";

type PanelStatus = "queued" | "running" | "completed" | "failed" | "killed";

/** An agent as a client knows it. Times are on one clock, in milliseconds. */
export interface PanelAgent {
  readonly agentId: string;
  readonly role: "main" | "subagent" | "fork" | "internal" | "worker" | "teammate" | "remote";
  readonly agentType: string;
  readonly name?: string;
  readonly description: string;
  readonly color?: AgentColor;
  readonly status: PanelStatus;
  readonly activity: string | null;
  /** Whose call runs, of several the first; absent: none does. */
  readonly tool?: string;
  readonly startTime: number;
  /** Absent: it has not ended. */
  readonly endTime?: number;
  readonly tokens: number;
  /** In US dollars. */
  readonly cost: number;
  /** Absent: it counts as in the background. */
  readonly isBackgrounded?: boolean;
  /** Its row says that it works in the background: nobody waits for it. */
  readonly worksAlone?: true;
  readonly prompt: string;
  /** Rises with the calls that started them, as they stand in the conversation; absent: not known. */
  readonly place?: number;
  /** What it asks the user, or waits for. */
  readonly blockedOn?: string;
}

/** What a client remembers of an agent: whether its view is open, and from when on its row is gone. */
interface PanelMark {
  readonly retain: boolean;
  readonly evictAfter?: number;
}

/** By agentId. */
export type PanelMarks = ReadonlyMap<string, PanelMark>;

/** In a row, so that only panelRows() makes one: what draws, counts and takes keys asks for rows. */
declare const SELECTED: unique symbol;

export type PanelRow = PanelAgent & PanelMark & { readonly elapsed: number; readonly [SELECTED]: true };

/** How long the row of an ended agent stays. */
export const PANEL_GRACE_MS = 30_000;
/** The most rows that are drawn at once. */
const ROWS_SHOWN = 8;

const UNMARKED: PanelMark = { retain: false };

/** The rows below that of `main`, by start, those of one reply as it calls them; without agents the panel has no row at all. */
export function panelRows(
  agents: readonly PanelAgent[],
  marks: PanelMarks,
  now: number,
): readonly PanelRow[] {
  const rows = agents
    .filter(({ role, isBackgrounded = true }) => role !== "main" && role !== "internal" && isBackgrounded)
    .map((agent) => {
      const elapsed = elapsedOf(agent, now);
      return { ...agent, ...(marks.get(agent.agentId) ?? UNMARKED), elapsed } as PanelRow;
    })
    .filter(({ evictAfter = Number.POSITIVE_INFINITY }) => evictAfter > now)
    .sort((a, b) => a.startTime - b.startTime || idOrder(a.agentId, b.agentId));
  return inCallOrder(rows);
}

/** Pids as numbers. */
function idOrder(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

/** The calls of a reply begin at once, and their agents in any order: those with a place stand by it among themselves. */
function inCallOrder(rows: readonly PanelRow[]): readonly PanelRow[] {
  const placed = rows.filter(({ place }) => place !== undefined);
  const ordered = placed.toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0)).values();
  return rows.map((row) => (row.place === undefined ? row : (ordered.next().value ?? row)));
}

function elapsedOf({ startTime, endTime }: PanelAgent, now: number): number {
  return Math.max(0, (endTime ?? now) - startTime);
}

export function hasEnded({ status }: Pick<PanelAgent, "status">): boolean {
  return status !== "queued" && status !== "running";
}

/** Its view is open: the row stays for as long. */
export function viewed(marks: PanelMarks, agentId: string): PanelMarks {
  return new Map([...marks, [agentId, { retain: true }]]);
}

/** Its view was left, or it has ended while nobody viewed it. */
export function left(
  marks: PanelMarks,
  agent: Pick<PanelAgent, "agentId" | "status">,
  now: number,
): PanelMarks {
  const mark = hasEnded(agent) ? { retain: false, evictAfter: now + PANEL_GRACE_MS } : UNMARKED;
  return new Map([...marks, [agent.agentId, mark]]);
}

export function dismissed(marks: PanelMarks, agentId: string): PanelMarks {
  return new Map([...marks, [agentId, { retain: false, evictAfter: 0 }]]);
}

/** When the next row is due to go, for the one timer; undefined: none is. */
export function nextEviction(rows: readonly PanelRow[]): number | undefined {
  const due = rows.flatMap(({ evictAfter }) => evictAfter ?? []);
  return due.length === 0 ? undefined : Math.min(...due);
}

interface PanelCounts {
  readonly running: number;
  readonly queued: number;
  readonly blocked: number;
  readonly ended: number;
}

export function panelCounts(rows: readonly PanelRow[]): PanelCounts {
  const count = (is: (row: PanelRow) => boolean): number => rows.filter(is).length;
  return {
    running: count(({ status }) => status === "running"),
    queued: count(({ status }) => status === "queued"),
    blocked: count((row) => row.blockedOn !== undefined && !hasEnded(row)),
    ended: count(hasEnded),
  };
}

/** The rows around the cursor that are drawn, the index of the first of them, and how many are not drawn. */
export function shownRows(
  rows: readonly PanelRow[],
  cursor: number,
): { readonly rows: readonly PanelRow[]; readonly first: number; readonly more: number } {
  const middle = Math.max(0, cursor) - Math.floor(ROWS_SHOWN / 2);
  const first = Math.max(0, Math.min(middle, rows.length - ROWS_SHOWN));
  const shown = rows.slice(first, first + ROWS_SHOWN);
  return { rows: shown, first, more: rows.length - shown.length };
}

/** `23s · ↓ 10.9k tokens`, `2s` before its first answer has ended; `unit`: as the language of the screen has it. */
export function useWords({ elapsed, tokens }: Pick<PanelRow, "elapsed" | "tokens">, unit = "tokens"): string {
  const time = timeWords(elapsed);
  if (tokens === 0) return time;
  return `${time} · ↓ ${tokens < 1_000 ? tokens : `${(tokens / 1_000).toFixed(1)}k`} ${unit}`;
}

/** `23s`, `1m 23s`. */
export function timeWords(elapsed: number): string {
  const seconds = Math.floor(elapsed / 1_000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}
