/** The lead of a team ends while one of its members rests, one works and one waits for an answer to its plan. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onStage, server, startModel, world } from "./harness/stage.ts";
import { settled } from "./harness/world.ts";
import { type Reply, text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";

onStage();

const told = ({ messages }: ModelRequest) =>
  messages.flatMap((message) => (message.role === "user" ? userTexts(message) : [])).join("\n");
const used = (tool: string, params: object) => ({ name: "tool_call", input: { tool, params } });
const member = (name: string, more: object = {}) => ({
  name: "agent",
  input: { description: `is ${name}`, prompt: `be ${name}`, name, ...more },
});
/** Tokens: the last reply of the lead uses all of them. */
const BUDGET = 2_000_000;
const SLEEPERS = /\bsleep 300$/;

function endOfLead(): unknown {
  const db = new DatabaseSync(join(world.dir, "state/crux/journal/journal.db"), { readOnly: true });
  try {
    const row = db.prepare("SELECT body FROM records WHERE kind = 'process.exited' AND pid = 1").get();
    return JSON.parse(String(row?.body)).reason;
  } finally {
    db.close();
  }
}

function answer(request: ModelRequest, isToEnd: Promise<unknown>): Reply | Promise<Reply> {
  const [said, turns] = [told(request), request.assistantTurns];
  if (said.startsWith("be rest")) return text("Rested.");
  if (said.startsWith("be work")) {
    const claim = toolUse(used("task_update", { task_id: "1", status: "in_progress" }));
    return turns === 0 ? claim : toolUse({ name: "bash", input: { command: "sleep 300" } });
  }
  if (said.startsWith("be plan")) {
    const [, plan = ""] = /Write the plan to (\S+\/plan\.md)/.exec(said) ?? [];
    const write = toolUse({ name: "write", input: { file_path: plan, content: "p" } });
    return [write, toolUse(used("plan_exit", {}))][turns] ?? text("Planned.");
  }
  const begun = [
    toolUse([
      used("team_create", { team_name: "crew" }),
      used("task_create", { subject: "One", description: "" }),
    ]),
    toolUse([member("rest"), member("work"), member("plan", { mode: "plan" })]),
  ];
  const spends = toolUse({ name: "bash", input: { command: "true" } }).usage({ input: BUDGET });
  return begun[turns] ?? isToEnd.then(() => spends);
}

const REASONS: Readonly<Record<string, string>> = {
  "by a stop": "killed: SIGTERM",
  "at its limit of steps": "max steps exceeded",
  "out of money": "budget_exceeded",
};

it.each(Object.keys(REASONS))("%s: the members end with it, and the task is free", async (how) => {
  const isToEnd = Promise.withResolvers<void>();
  await startModel({ script: (request) => answer(request, isToEnd.promise) });
  const env = modelEnv(server);
  const limit = how === "out of money" ? ["--budget", String(BUDGET)] : ["--max-steps", "4"];
  const args = ["-q", "--permission-mode", "bypass", ...limit, "lead them"];
  const run = world.start(args, { env });
  const reached = () =>
    server.requests.map(
      ({ lastToolResults, ...request }) =>
        `${told(request as ModelRequest).slice(0, 7)} ${request.assistantTurns}`,
    );
  const wanted = ["be rest 0", "be work 1", "be plan 2", "lead th 2"];
  await settled(reached, (seen) => wanted.every((each) => seen.includes(each)));
  await settled(
    () => world.commands(SLEEPERS).length,
    (count) => count > 0,
  );
  expect((await world.crux(["ps"])).stdout).toContain("4 active");
  if (how === "by a stop") expect((await world.crux(["stop", "1"])).code).toBe(0);
  isToEnd.resolve();
  expect((await run.done).code).not.toBe(0);
  expect(endOfLead()).toBe(REASONS[how]);
  expect(
    await settled(
      async () => (await world.crux(["ps"])).stdout,
      (shown) => !/[1-9] active/.test(shown),
    ),
  ).not.toMatch(/[1-9] active/);
  expect(
    await settled(
      () => world.commands(SLEEPERS),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
  expect((await world.crux(["tasks", "crew"])).stdout).toMatch(/pending.*One/);
});
