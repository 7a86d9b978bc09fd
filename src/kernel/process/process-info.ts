/** What the lists of processes show of one. */
import { agentIdOf, type ChildMark } from "../../abi/child.ts";
import type { Pgid } from "../../abi/ids.ts";
import type { Activity, ProcInfo } from "../../abi/process.ts";
import { laneName } from "../../lib/text/model-words.ts";
import { LIMITS } from "../limits.ts";
import { isInBackground } from "./end/report.ts";
import { noteFacet } from "./note.ts";
import type { Process } from "./process.ts";
import { devicesOf } from "./rights/rights.ts";
import { runningTool } from "./running-calls.ts";
import { enteredFacet } from "./tree/entered.ts";
import { worktreeFacet } from "./tree/worktree.ts";

/**
 * Fields that only some have are set one by one: lists have thousands of rows, and an object spread for each field takes several
 * times as long.
 */
export function infoOf(proc: Process, groups: ReadonlySet<Pgid>, mono: number): ProcInfo {
  const { seed, used } = proc;
  const info: ProcInfo = {
    pid: proc.pid,
    ppid: proc.ppid,
    kind: seed.kind,
    state: proc.isLive && proc.halt.isQueued ? "created" : proc.state,
    activity: shownActivity(proc),
    intent: seed.intent || (proc.conversation?.title ?? ""),
    skills: [...seed.skills],
    tokensUsed: used.tokens,
    createdAt: new Date(seed.createdAt),
    elapsedMs: proc.elapsedMs(mono),
    ctxId: proc.ctxId,
    result: proc.result,
    allowedDevices: devicesOf(proc),
    exit: proc.exit,
    groups: groups.size === 0 ? [] : [...groups].sort((a, b) => a - b),
    threads: proc.threads?.live ?? 0,
    coroutines: proc.liveCoroutines,
    name: seed.body.name,
    model: proc.model.answering || proc.model.known,
  };
  const tool = runningTool(proc);
  if (tool !== undefined) info.tool = tool;
  if (used.comingTokens !== 0) info.comingTokens = used.comingTokens;
  Object.assign(info, used.paid);
  addWaits(info, proc, mono);
  addRole(info, proc);
  addFacts(info, proc);
  return info;
}

function addRole(info: ProcInfo, proc: Process): void {
  const { seed } = proc;
  if (seed.kind === "agent") info.subtree = subtreeOf(proc);
  if (seed.isSession === true) info.isSession = true;
  if (seed.child !== undefined) info.child = childOf(proc, seed.child);
  if (seed.fork !== undefined) info.fork = seed.fork.label;
  if (seed.kind === "agent" && proc.mode !== "default") info.mode = proc.mode;
}

function addFacts(info: ProcInfo, proc: Process): void {
  const { facts, labels, seed } = proc;
  const note = facts.of(noteFacet);
  const worktree = facts.of(enteredFacet) ?? facts.of(worktreeFacet);
  const color = seed.agent?.manifest.color;
  if (color !== undefined) info.color = color;
  if (labels.length > 0) info.labels = [...new Set(labels.map(({ kind }) => kind))];
  if (note !== "") info.note = note;
  if (worktree !== null) info.worktree = { path: worktree.path, branch: worktree.branch };
}

function subtreeOf({
  seed: {
    account: { spent },
  },
}: Process): NonNullable<ProcInfo["subtree"]> {
  return { tokens: spent.tokens, microUsd: spent.microUsd };
}

function childOf(proc: Process, { call, title, name, team }: ChildMark): NonNullable<ProcInfo["child"]> {
  const background = isInBackground(proc) ? { isBackground: true as const } : {};
  const named = name === undefined ? {} : { name };
  const member = team === undefined ? {} : { team };
  return { call, title, ...named, ...member, ...background, agentId: agentIdOf(proc.seed.uuid) };
}

/** Why it is paused, and its longest wait for a slot; a short one is not shown. */
function addWaits(info: ProcInfo, { isLive, halt: { why }, model }: Process, mono: number): void {
  if (isLive && why !== null) info.held = why;
  const [first] = model.waits;
  if (first !== undefined && mono - first.sinceMono >= LIMITS.laneTellMs)
    info.slot = { lane: laneName(first.lane), waitedMs: Math.round(mono - first.sinceMono) };
}

function shownActivity({ isLive, halt, life, mailbox }: Process): Activity | null {
  if (!isLive) return null;
  if (halt.why !== null) return "paused";
  if (halt.openAsks > 0) return "blocked";
  // with mail that it has not read yet it has something to do: its lead waits for it
  return life.activity === "idle" && mailbox?.isReady === true ? "waiting" : life.activity;
}
