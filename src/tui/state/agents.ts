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
      | "tokens_used"
      | "coming_tokens"
      | "cost_usd"
      | "exit"
      | "fork"
      | "color"
      | "queue"
      | "title"
      | "called"
      | "call"
      | "background"
      | "tool"
    >
  >;

interface Look {
  /** Wall clock, ms. */
  readonly now: number;
  /** What is said of one that asks the user. */
  readonly asksYou: string;
  /** Where in the conversation a call stands; undefined: it is not known. */
  readonly placeOf: (call: string) => number | undefined;
}

/** `known`: those of the last look; one that has left the table has ended. */
export function agentsBelow(
  pid: number,
  rows: readonly Row[],
  known: readonly PanelAgent[],
  look: Look,
): readonly PanelAgent[] {
  const below = new Set([pid]);
  const agents: PanelAgent[] = [];
  // a child has a higher pid than what started it
  for (const row of [...rows].sort((a, b) => a.pid - b.pid)) {
    if (!below.has(row.ppid)) continue;
    below.add(row.pid);
    if (row.kind === "agent") agents.push(agentOf(row, look, known));
  }
  const there = new Set(agents.map(({ agentId }) => agentId));
  const gone = known.filter(({ agentId }) => !there.has(agentId)).map((agent) => ended(agent, look.now));
  return [...gone, ...agents];
}

function agentOf(row: Row, { asksYou, placeOf }: Look, known: readonly PanelAgent[]): PanelAgent {
  // the row of one that has left the table has neither title nor name
  const before = known.find(({ agentId }) => agentId === String(row.pid));
  const name = row.called ?? before?.name;
  const place = before?.place ?? placeOf(row.call ?? "");
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
    ...(row.tool === undefined ? {} : { tool: row.tool }),
    startTime,
    ...(isOver ? { endTime: startTime + row.elapsed_ms } : {}),
    tokens: (row.tokens_used ?? 0) + (row.coming_tokens ?? 0),
    cost: row.cost_usd ?? 0,
    ...(row.background === true ? { worksAlone: true } : {}),
    prompt: row.intent,
    ...(place === undefined ? {} : { place }),
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
