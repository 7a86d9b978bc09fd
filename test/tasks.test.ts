/** Task lists of the booted system: shared by a group, freed by the end of an owner, there for a person; and the list of one's own. */
import { expect, it } from "vitest";
import { onSharedStage, serveInTurn, server, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled } from "./harness/world.ts";
import { type Reply, text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onSharedStage();

function serve(...replies: readonly Reply[]): Promise<void> {
  world.env.CRUX_ENABLE_TASKS = "1";
  return serveInTurn(...replies);
}

const call = (tool: string, params: object) => toolUse({ name: "tool_call", input: { tool, params } });
const last = () => JSON.stringify((server.requests.at(-1) as ModelRequest).messages);

it("an agent works through its tasks in plan mode, and a person sees them", async () => {
  await serve(
    call("task_create", { subject: "Write it", description: "all of it" }),
    call("task_create", { subject: "Check it", description: "", blocked_by: ["1"] }),
    call("task_update", { task_id: "2", claim: true }),
    call("task_update", { task_id: "1", status: "in_progress" }),
    call("task_update", { task_id: "1", status: "completed" }),
    call("task_list", {}),
    text("done"),
  );
  const { code } = await world.crux(["--permission-mode", "plan", "work"], {
    env: { CRUX_TASK_LIST_ID: "mine" },
  });
  expect(code).toBe(0);
  expect(last()).toContain("Created task 2 [pending] Check it (waits for 1)");
  expect(last()).toContain("Error [CONFLICT]: task 2 waits for 1");
  expect(last()).toContain("Nothing holds back task 2 any more.\\nCall task_list for what is next.");
  const shown = (await world.crux(["tasks", "mine"])).stdout;
  expect(shown).toMatch(/1 +completed +1 +- +Write it\n +2 +pending +- +1 +Check it/);
  expect(JSON.parse((await world.crux(["tasks", "--json"])).stdout).data.lists).toEqual([
    { list: "mine", open: 1, completed: 1 },
  ]);
});

it("the end of a process frees the tasks of its group that it had taken", async () => {
  await serve(
    call("task_create", { subject: "Take it", description: "" }),
    call("task_update", { task_id: "1", claim: true }),
    text("gone"),
  );
  expect((await world.crux(["work"], { env: { CRUX_TEAM_NAME: "crew" } })).code).toBe(0);
  const list = async () => JSON.parse((await world.crux(["tasks", "crew", "--json"])).stdout).data.tasks;
  expect(await settled(list, ([task]) => task.status === "pending")).toMatchObject([
    { id: "1", status: "pending" },
  ]);
  expect((await list())[0]).not.toHaveProperty("owner");
});

it("a run has todo, a session has tasks in its place", async () => {
  const todos = [{ content: "Read", status: "in_progress", active_form: "Reading" }];
  await serve(toolUse({ name: "todo", input: { todos } }), text("noted"));
  const { CRUX_ENABLE_TASKS: _, ...env } = world.env;
  const offered = () =>
    [...((server.requests.at(-1) as ModelRequest).tools ?? [])].map((tool) => String(tool));
  await world.crux(["daemon", "start"]);
  const spawn = { intent: "work", cwd: world.work, env, detach: true };
  await using wire = await Wire.open(world.socket);
  await wire.ask("spawn", spawn);
  expect(
    await settled(
      () => server.requests.length,
      (count) => count >= 2,
    ),
  ).toBe(2);
  expect(offered()).toContain("todo");
  expect(last()).toContain("0 of 1 steps are done.");
  await wire.ask("spawn", { ...spawn, session: true });
  expect(
    await settled(
      () => server.requests.length,
      (count) => count >= 4,
    ),
  ).toBe(4);
  expect(offered()).not.toContain("todo");
  expect(last()).toMatch(/tool not found: todo|UNAVAILABLE/);
});

it("the pid of a session stands for its list", async () => {
  await serve(
    call("task_create", { subject: "Dig here", description: "" }),
    text("noted"),
    text("nothing to note"),
  );
  await world.crux(["daemon", "start"]);
  await using wire = await Wire.open(world.socket);
  const spawn = { intent: "work", cwd: world.work, env: world.env, detach: true, session: true };
  const { pid } = (await wire.ask("spawn", spawn))!.payload as { pid: number };
  const shown = async () => (await world.crux(["tasks", String(pid)])).stdout;
  expect(await settled(shown, (text) => text.includes("Dig here"))).toMatch(/1 +pending +- +- +Dig here/);
  const other = (await wire.ask("spawn", { ...spawn, intent: "" }))!.payload as { pid: number };
  expect((await world.crux(["tasks", `${other.pid}`])).stdout).toBe(`No tasks of PID ${other.pid}.\n`);
});
