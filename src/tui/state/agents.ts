/** From the table of processes to the agents below one of them: pure. */
import { FORK } from "../../abi/fork.ts";
import type { WireRow } from "../../abi/methods/process.ts";
import { hasEnded, type PanelAgent } from "../../abi/panel/rows.ts";

type Row = Pick<
  WireRow,
  "pid" | "ppid" | "kind" | "name" | "intent" | "state" | "activity" | "created_at" | "elapsed_ms"
> &
  Partial<
    Pick<
      WireRow,
      "tokens_used" | "coming_tokens" | "cost_usd" | "exit" | "fork" | "color" | "queue" | "title" | "called"
    >
  >;

/**
 * `known`: those of the last look; one that has left the table has ended. `now`: wall clock, ms. `asksYou`: what is said of
 * one that asks the user.
 */
export function agentsBelow(
  pid: number,
  rows: readonly Row[],
  known: readonly PanelAgent[],
  { now, asksYou }: { readonly now: number; readonly asksYou: string },
): readonly PanelAgent[] {
  const below = new Set([pid]);
  const agents: PanelAgent[] = [];
  // a child has a higher pid than what started it
  for (const row of [...rows].sort((a, b) => a.pid - b.pid)) {
    if (!below.has(row.ppid)) continue;
    below.add(row.pid);
    if (row.kind === "agent") agents.push(agentOf(row, asksYou, known));
  }
  const there = new Set(agents.map(({ agentId }) => agentId));
  const gone = known.filter(({ agentId }) => !there.has(agentId)).map((agent) => ended(agent, now));
  return [...gone, ...agents];
}

function agentOf(row: Row, asksYou: string, known: readonly PanelAgent[]): PanelAgent {
  // the row of one that has left the table has neither title nor name
  const before = known.find(({ agentId }) => agentId === String(row.pid));
  const name = row.called ?? before?.name;
  const startTime = Date.parse(row.created_at);
  const status = statusOf(row);
  const isOver = status !== "queued" && status !== "running";
  return {
    agentId: String(row.pid),
    ...kindOf(row),
    ...(row.color === undefined ? {} : { color: row.color }),
    ...(name === undefined ? {} : { name }),
    description: row.title ?? before?.description ?? row.intent.trim().split("\n", 1)[0] ?? "",
    status,
    activity: row.activity,
    startTime,
    ...(isOver ? { endTime: startTime + row.elapsed_ms } : {}),
    tokens: (row.tokens_used ?? 0) + (row.coming_tokens ?? 0),
    cost: row.cost_usd ?? 0,
    prompt: row.intent,
    ...(row.activity === "blocked" ? { blockedOn: asksYou } : {}),
  };
}

function kindOf({ fork, name }: Row): Pick<PanelAgent, "role" | "agentType"> {
  if (fork === FORK) return { role: "fork", agentType: FORK };
  return { role: fork === undefined ? "subagent" : "internal", agentType: name === "" ? "agent" : name };
}

function statusOf({ state, queue, exit }: Row): PanelAgent["status"] {
  if (queue !== undefined) return "queued";
  if (state !== "zombie" && state !== "dead") return "running";
  if (exit === null || exit === undefined || exit.code === 0) return "completed";
  return exit.code > 128 ? "killed" : "failed";
}

function ended(agent: PanelAgent, now: number): PanelAgent {
  if (hasEnded(agent)) return agent;
  const { blockedOn: _, ...rest } = agent;
  return { ...rest, status: "completed", activity: null, endTime: now };
}
