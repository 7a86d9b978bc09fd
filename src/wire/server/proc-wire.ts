/** A process in the form of the wire. Keys in the order of `ps --json`. */

import type { WireProc, WireRow } from "../../abi/methods/process.ts";
import type { ProcInfo } from "../../abi/process.ts";
import { usdOf } from "../../lib/usd.ts";

/** The most characters of a text in a row: a full table of such rows still fits into one line of the wire. */
const ROW_TEXT_CHARS = 160;

export function toWireProc(proc: ProcInfo): WireProc {
  const wire = known(proc, proc);
  if (proc.model !== "") wire.model = proc.model;
  return wire;
}

/**
 * Fields that only some have are set one by one: lists have thousands of rows, and an object spread for each of these fields
 * takes several times as long.
 */
function known(proc: ProcInfo, { intent, result }: Pick<ProcInfo, "intent" | "result">): WireProc {
  const wire: WireProc = {
    pid: proc.pid,
    ppid: proc.ppid,
    state: proc.state,
    intent,
    skills: [...proc.skills],
    tokens_used: proc.tokensUsed,
    elapsed_ms: Math.floor(proc.elapsedMs),
    kind: proc.kind,
    activity: proc.activity,
    ...waitsAndChild(proc),
    created_at: proc.createdAt.toISOString(),
    ctx_id: proc.ctxId,
    allowed_devices: proc.allowedDevices === null ? null : [...proc.allowedDevices],
    groups: [...proc.groups],
    result,
    exit: proc.exit === null ? null : exitOf(proc.exit),
  };
  if (proc.fork !== undefined) wire.fork = proc.fork;
  if (proc.color !== undefined) wire.color = proc.color;
  if (proc.labels !== undefined) wire.labels = [...proc.labels];
  if (proc.note !== undefined) wire.note = proc.note;
  if (proc.worktree !== undefined) wire.worktree = proc.worktree;
  if (proc.mode !== undefined) wire.mode = proc.mode;
  if (proc.microUsdUsed !== undefined) wire.cost_usd = usdOf(proc.microUsdUsed);
  addSubtree(wire, proc);
  if (proc.unpricedCalls !== undefined) wire.unpriced_calls = proc.unpricedCalls;
  return wire;
}

function waitsAndChild({ tool, held, slot, queue, child }: ProcInfo): Partial<WireProc> {
  const some: Partial<WireProc> = {};
  if (tool !== undefined) some.tool = tool;
  if (held !== undefined) some.held = held;
  if (slot !== undefined) some.slot = slotOf(slot);
  if (queue !== undefined) some.queue = queue;
  if (child === undefined) return some;
  some.agent_id = child.agentId;
  if (child.call !== "") some.call = child.call;
  if (child.isBackground === true) some.background = true;
  if (child.name !== undefined) some.called = child.name;
  if (child.title !== "") some.title = child.title;
  if (child.team !== undefined) some.team = child.team;
  return some;
}

function exitOf({ code, reason, kind }: NonNullable<ProcInfo["exit"]>): NonNullable<WireProc["exit"]> {
  return { code, reason, kind };
}

function addSubtree(wire: WireProc, { subtree, tokensUsed, microUsdUsed = 0 }: ProcInfo): void {
  if (subtree === undefined || (subtree.tokens <= tokensUsed && subtree.microUsd <= microUsdUsed)) return;
  wire.subtree = { tokens_used: subtree.tokens, cost_usd: usdOf(subtree.microUsd) };
}

function slotOf({ lane, waitedMs, place }: NonNullable<ProcInfo["slot"]>): NonNullable<WireProc["slot"]> {
  return { lane, waited_ms: waitedMs, ...(place === undefined ? {} : { place }) };
}

/** `intent` and `result` are cut: they may be long, and are requested every second. */
export function toWireRow(proc: ProcInfo): WireRow {
  const { name, model, threads, coroutines } = proc;
  const wire = known(proc, { intent: cut(proc.intent), result: cut(proc.result) });
  const row: WireRow = Object.assign(wire, { name, model, threads, coroutines });
  if (proc.comingTokens !== undefined) row.coming_tokens = proc.comingTokens;
  if (proc.isSession === true) row.session = true;
  return row;
}

function cut(text: string): string {
  return text.length <= ROW_TEXT_CHARS ? text : `${text.slice(0, ROW_TEXT_CHARS).toWellFormed()}…`;
}
