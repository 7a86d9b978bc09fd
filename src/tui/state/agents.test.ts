import { expect, test } from "vitest";
import { agentsBelow } from "./agents.ts";

const at = (now: number) => ({ now, asksYou: "asks you", placeOf: () => undefined });

const row = (pid: number, ppid: number, change: object = {}) => ({
  ...{
    pid,
    ppid,
    kind: "agent" as const,
    name: "explore",
    intent: `task ${pid}\nmore`,
    state: "running" as const,
  },
  ...{ activity: "thinking" as const, created_at: new Date(1_000).toISOString(), elapsed_ms: 500 },
  ...change,
});

test("agents below a session, whatever stands between, and neither itself nor others", () => {
  const rows = [
    row(5, 4),
    row(1, 0),
    row(4, 1, { kind: "native" }),
    row(7, 0),
    row(8, 1, { fork: "memory", title: "Take notes", called: "ann" }),
    row(9, 1, { activity: "blocked", name: "" }),
  ];
  const agents = agentsBelow(1, rows as never, [], at(0));
  expect(agents.map(({ agentId, role }) => [agentId, role])).toEqual([
    ["5", "subagent"],
    ["8", "internal"],
    ["9", "subagent"],
  ]);
  expect(agents[0]).toMatchObject({ agentType: "explore", description: "task 5", startTime: 1_000 });
  expect(agents[1]).toMatchObject({ description: "Take notes", prompt: "task 8\nmore" });
  // as the journal has it
  const [later] = agentsBelow(
    1,
    [row(8, 1, { fork: "memory", state: "dead" })] as never,
    agents,
    at(0),
  ).slice(-1);
  expect(later).toMatchObject({ agentId: "8", description: "Take notes", name: "ann" });
  expect(agents[2]).toMatchObject({ agentType: "agent", blockedOn: "asks you" });
});

test("how one ended, while it is in the table and after it has left it", () => {
  const exit = (code: number) => ({ state: "zombie", exit: { code, reason: "", kind: "done" } });
  const rows = [
    row(2, 1, exit(0)),
    row(3, 1, exit(1)),
    row(4, 1, exit(143)),
    row(5, 1, { queue: { place: 1, of: 2 } }),
  ];
  const agents = agentsBelow(1, rows as never, [], at(0));
  expect(agents.map(({ status }) => status)).toEqual(["completed", "failed", "killed", "queued"]);
  expect(agents[0]?.endTime).toBe(1_500);
  const later = agentsBelow(1, [], agents, at(9_000));
  expect(later.map(({ status }) => status)).toEqual(["completed", "failed", "killed", "completed"]);
  expect(later[3]?.endTime).toBe(9_000);
  expect(agentsBelow(1, [], later, at(10_000))).toEqual(later);
});

test("the tokens of a reply that still comes count beside those that were used", () => {
  const [agent] = agentsBelow(1, [row(5, 1, { tokens_used: 100, coming_tokens: 7 })] as never, [], at(0));
  expect(agent?.tokens).toBe(107);
});

test("agents of one reply have the places of their calls, which they keep, and what runs where is known", () => {
  const placeOf = (call: string) => ({ a: 4, b: 5 })[call];
  const rows = [
    row(5, 1, { call: "b", background: true }),
    row(6, 1, { call: "a", activity: "tool", tool: "bash" }),
  ];
  const agents = agentsBelow(1, rows as never, [], { ...at(0), placeOf });
  expect(agents).toMatchObject([
    { place: 5, worksAlone: true },
    { place: 4, tool: "bash" },
  ]);
  expect(agents[1]).not.toHaveProperty("worksAlone");
  expect(agentsBelow(1, rows as never, agents, at(0)).map(({ place }) => place)).toEqual([5, 4]);
});
