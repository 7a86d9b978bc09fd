/** A process in the form of the wire. Keys in the order of `ps --json`. */

import type { WireProc, WireRow } from "../../abi/methods/process.ts";
import type { ProcInfo } from "../../abi/process.ts";
import { usdOf } from "../../lib/usd.ts";

/** The most characters of a text in a row: a full table of such rows still fits into one line of the wire. */
const ROW_TEXT_CHARS = 160;

export function toWireProc(proc: ProcInfo): WireProc {
  const { exit } = proc;
  return {
    pid: proc.pid,
    ppid: proc.ppid,
    state: proc.state,
    intent: proc.intent,
    skills: [...proc.skills],
    tokens_used: proc.tokensUsed,
    elapsed_ms: Math.floor(proc.elapsedMs),
    kind: proc.kind,
    activity: proc.activity,
    ...(proc.held === undefined ? {} : { held: proc.held }),
    ...(proc.slot === undefined ? {} : { slot: slotOf(proc.slot) }),
    ...(proc.queue === undefined ? {} : { queue: proc.queue }),
    ...(proc.child === undefined ? {} : { agent_id: proc.child.agentId }),
    ...(proc.child?.name === undefined ? {} : { called: proc.child.name }),
    ...(proc.child === undefined || proc.child.title === "" ? {} : { title: proc.child.title }),
    ...(proc.child?.team === undefined ? {} : { team: proc.child.team }),
    created_at: proc.createdAt.toISOString(),
    ctx_id: proc.ctxId,
    allowed_devices: proc.allowedDevices === null ? null : [...proc.allowedDevices],
    groups: [...proc.groups],
    result: proc.result,
    exit: exit === null ? null : { code: exit.code, reason: exit.reason, kind: exit.kind },
    ...(proc.fork === undefined ? {} : { fork: proc.fork }),
    ...(proc.color === undefined ? {} : { color: proc.color }),
    ...(proc.labels === undefined ? {} : { labels: [...proc.labels] }),
    ...(proc.note === undefined ? {} : { note: proc.note }),
    ...(proc.worktree === undefined ? {} : { worktree: proc.worktree }),
    ...(proc.mode === undefined ? {} : { mode: proc.mode }),
    ...(proc.microUsdUsed === undefined ? {} : { cost_usd: usdOf(proc.microUsdUsed) }),
    ...subtreeOf(proc),
    ...(proc.unpricedCalls === undefined ? {} : { unpriced_calls: proc.unpricedCalls }),
    ...(proc.model === "" ? {} : { model: proc.model }),
  };
}

function subtreeOf({ subtree, tokensUsed, microUsdUsed = 0 }: ProcInfo): Pick<WireProc, "subtree"> {
  if (subtree === undefined || (subtree.tokens <= tokensUsed && subtree.microUsd <= microUsdUsed)) return {};
  return { subtree: { tokens_used: subtree.tokens, cost_usd: usdOf(subtree.microUsd) } };
}

function slotOf({ lane, waitedMs, place }: NonNullable<ProcInfo["slot"]>): NonNullable<WireProc["slot"]> {
  return { lane, waited_ms: waitedMs, ...(place === undefined ? {} : { place }) };
}

/** `intent` and `result` are cut: they may be long, and are requested every second. */
export function toWireRow(proc: ProcInfo): WireRow {
  const { name, model, threads, coroutines } = proc;
  const kind = proc.isSession === true ? ({ session: true } as const) : {};
  const coming = proc.comingTokens === undefined ? {} : { coming_tokens: proc.comingTokens };
  const intent = cut(proc.intent);
  const result = cut(proc.result);
  const { model: _, ...known } = toWireProc(proc);
  return { ...known, intent, result, name, model, threads, coroutines, ...coming, ...kind };
}

function cut(text: string): string {
  return text.length <= ROW_TEXT_CHARS ? text : `${text.slice(0, ROW_TEXT_CHARS).toWellFormed()}…`;
}
