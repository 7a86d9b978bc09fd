/** What the lists of processes show of one. */
import { agentIdOf, type ChildMark } from "../../abi/child.ts";
import type { Pgid } from "../../abi/ids.ts";
import type { Activity, Hold, ProcInfo } from "../../abi/process.ts";
import { laneName } from "../../lib/text/model-words.ts";
import { LIMITS } from "../limits.ts";
import { isInBackground } from "./end/report.ts";
import { noteFacet } from "./note.ts";
import type { Process } from "./process.ts";
import { devicesOf } from "./rights/rights.ts";
import { enteredFacet } from "./tree/entered.ts";
import { worktreeFacet } from "./tree/worktree.ts";

export function infoOf(proc: Process, groups: ReadonlySet<Pgid>, mono: number): ProcInfo {
  const { seed, used, labels } = proc;
  const note = proc.facts.of(noteFacet);
  const worktree = proc.facts.of(enteredFacet) ?? proc.facts.of(worktreeFacet);
  return {
    pid: proc.pid,
    ppid: proc.ppid,
    kind: seed.kind,
    state: proc.isLive && proc.halt.isQueued ? "created" : proc.state,
    activity: shownActivity(proc),
    intent: seed.intent || (proc.conversation?.title ?? ""),
    skills: [...seed.skills],
    ...hold(proc),
    ...slotOf(proc, mono),
    tokensUsed: used.tokens,
    ...(used.comingTokens === 0 ? {} : { comingTokens: used.comingTokens }),
    ...used.paid,
    ...(seed.kind === "agent" ? { subtree: subtreeOf(proc) } : {}),
    createdAt: new Date(seed.createdAt),
    elapsedMs: proc.elapsedMs(mono),
    ctxId: proc.ctxId,
    result: proc.result,
    allowedDevices: devicesOf(proc),
    exit: proc.exit,
    groups: [...groups].sort((a, b) => a - b),
    threads: proc.threads?.live ?? 0,
    coroutines: proc.liveCoroutines,
    name: seed.body.name,
    ...(seed.isSession === true ? { isSession: true } : {}),
    ...(seed.child === undefined ? {} : { child: childOf(proc, seed.child) }),
    ...(seed.fork === undefined ? {} : { fork: seed.fork.label }),
    ...colorOf(seed),
    ...(labels.length === 0 ? {} : { labels: [...new Set(labels.map(({ kind }) => kind))] }),
    ...(note === "" ? {} : { note }),
    ...(worktree === null ? {} : { worktree: { path: worktree.path, branch: worktree.branch } }),
    ...(seed.kind === "agent" && proc.mode !== "default" ? { mode: proc.mode } : {}),
    model: proc.model.answering || proc.model.known,
  };
}

function colorOf({ agent }: Process["seed"]): Pick<ProcInfo, "color"> {
  const { color } = agent?.manifest ?? {};
  return color === undefined ? {} : { color };
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

/** Its longest wait for a slot; a short one is not shown. */
function slotOf({ model }: Process, mono: number): Pick<ProcInfo, "slot"> {
  const [first] = model.waits;
  if (first === undefined || mono - first.sinceMono < LIMITS.laneTellMs) return {};
  return { slot: { lane: laneName(first.lane), waitedMs: Math.round(mono - first.sinceMono) } };
}

function hold({ isLive, halt: { why } }: Process): { readonly held?: Hold } {
  return isLive && why !== null ? { held: why } : {};
}

function shownActivity({ isLive, halt, life, mailbox }: Process): Activity | null {
  if (!isLive) return null;
  if (halt.why !== null) return "paused";
  if (halt.openAsks > 0) return "blocked";
  // with mail that it has not read yet it has something to do: its lead waits for it
  return life.activity === "idle" && mailbox?.isReady === true ? "waiting" : life.activity;
}
