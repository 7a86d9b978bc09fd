/** The user has another model answer a conversation that is under way: from one vendor's wire to another's and back. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";
import { text, thinking, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let first: ModelServer;
let second: ModelServer;

beforeTries(
  () => {
    world = new World();
  },
  () => world.close(),
);
beforeEach(async () => {
  first = await startModelServer({
    script: ({ messages }) =>
      messages.length === 1
        ? thinking("where is it?", "sig-of-the-first").and(toolUse({ name: "ls", input: {} }))
        : text("the first says so"),
  });
  second = await startModelServer({ script: () => text("the second says so") });
  Object.assign(world.env, modelEnv(first, "anthropic"), modelEnv(second, "openai"));
});
afterEach(async () => {
  await world.crux(["shutdown"]);
  await first.close();
  await second.close();
});

async function ask(method: string, payload: object) {
  await using wire = await Wire.open(world.socket);
  return await wire.ask(method, payload);
}

const heard = async (server: ModelServer, count: number) => {
  const isThere = () => server.requests.length;
  expect(await settled(isThere, (n) => n >= count)).toBe(count);
};

const waits = async (pid: number) => {
  const state = async () => {
    const { stdout } = await world.crux(["ps", "--json", "-v"]);
    const { data } = JSON.parse(stdout) as { data: { processes: { pid: number; activity: string }[] } };
    return data.processes.find((each) => each.pid === pid)?.activity;
  };
  expect(await settled(state, (now) => now === "waiting")).toBe("waiting");
};

const said = (server: ModelServer) => JSON.stringify(server.requests.at(-1)?.body);

it("from its next run on, over a restart, and back; all of it replays without a difference", async () => {
  expect((await world.crux(["daemon", "start"])).code).toBe(0);
  const spawn = { intent: "one", session: true, cwd: world.work, env: { ...world.env } };
  const begun = await ask("spawn", { ...spawn, model: "anthropic/sonnet" });
  const pid = Number(begun?.payload?.pid);
  await waits(pid);
  const chosen = await world.crux(["model", `${pid}`, "openai/test-model"]);
  const [line, note] = chosen.stdout.split("\n");
  expect(line).toBe(`[kernel] PID ${pid}: openai/test-model answers from the next run on`);
  expect(note).toContain("no table has test-model");
  await ask("session.say", { pid, text: "two", client: "" });
  await heard(second, 1);
  await waits(pid);
  expect(said(second)).toContain("the first says so");
  expect(said(second)).not.toContain("sig-of-the-first");

  process.kill(world.daemonPid!, "SIGKILL");
  await world.crux(["daemon", "start", "--normal"]);
  await world.crux(["resume", "-q", `${pid}`]);
  await ask("session.say", { pid, text: "three", client: "" });
  await heard(second, 2);
  await waits(pid);

  expect((await world.crux(["model", `${pid}`, "anthropic/sonnet"])).code).toBe(0);
  await ask("session.say", { pid, text: "four", client: "" });
  await heard(first, 3);
  await waits(pid);
  // what only the first can read is still there for it
  expect(said(first)).toContain("sig-of-the-first");
  expect(said(first)).toContain("the second says so");
  const forked = await world.crux(["fork", `${pid}`, "--json"]);
  expect(forked.code).toBe(0);
  await world.crux(["kill", `${pid}`]);
  expect((await world.crux(["replay", `${pid}`])).stdout).toContain("0 differences");
});

it("refuses a model that is not set up, and a process that has ended", async () => {
  expect((await world.crux(["-q", "-m", "anthropic/sonnet", "one"])).code).toBe(0);
  const [gone] = await Promise.all([world.crux(["model", "1", "openai/test-model"])]);
  expect([gone.code, gone.stderr]).toEqual([
    1,
    expect.stringContaining("has ended: its model cannot change any more"),
  ]);
  const begun = await ask("spawn", { intent: "", session: true, cwd: world.work, env: { ...world.env } });
  const { code, stderr } = await world.crux(["model", `${begun?.payload?.pid}`, "gemini/gemini-2.5-pro"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("the model driver gemini is not set up")]);
});
