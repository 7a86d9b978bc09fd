/** A line that the user pins to a process: over a crash, a fork and a replay, in what people and programs read. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { settled, World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const NOTE = "waits for the release";

let world: World;
let server: ModelServer;

beforeEach(async () => {
  server = await startModelServer({
    script: ({ messages }) =>
      messages.length > 2 ? text("Done.") : toolUse({ name: "sleep", input: { duration_ms: 600_000 } }),
  });
  world = new World();
  Object.assign(world.env, modelEnv(server));
});
afterEach(async () => {
  await server.close();
  await world.close();
});

const crux = (...args: string[]) => world.crux(args);
const data = async (...args: string[]) => JSON.parse((await crux(...args, "--json")).stdout).data;

it("is shown, outlives the daemon that is killed, is in a fork and in no replay's way, and can be taken away", async () => {
  const pid = (await crux("-q", "-d", "--permission-mode", "bypass", "rest a while")).stdout.trim();
  expect((await crux("note", pid)).stdout).toBe(`Process ${pid} has no note.\n`);
  expect(await crux("note", pid, "waits", "for the release")).toMatchObject({
    code: 0,
    stderr: "",
    stdout: `${NOTE}\n`,
  });
  const line = `[kernel] note of PID ${pid}: ${NOTE}\n`;
  expect((await crux("ps", "-v")).stdout).toContain(line);
  const mine = (await data("ps", "-v")).processes.find((each: { pid: number }) => each.pid === Number(pid));
  expect(mine.note).toBe(NOTE);

  const daemon = Number((await data("daemon", "status")).pid);
  process.kill(daemon, "SIGKILL");
  await settled(
    () => world.processes(),
    (processes) => !processes.includes(daemon),
  );
  expect((await crux("ps", "-v")).stdout).toContain(line);
  const { pid: fork } = await data("fork", pid);
  expect((await crux("note", String(fork))).stdout).toBe(`${NOTE}\n`);

  expect((await crux("note", "rm", pid)).code).toBe(0);
  expect((await crux("ps", "-v")).stdout).not.toContain("note of PID");
  expect((await crux("note", String(fork))).stdout).toBe(`${NOTE}\n`);
  const long = await crux("note", pid, "x".repeat(201));
  expect([long.code === 0, long.stderr]).toEqual([false, expect.stringContaining("at most 200")]);
  expect((await crux("note", "999", "x")).stderr).toContain("999");

  expect((await crux("kill", pid)).code).toBe(0);
  expect((await crux("replay", pid)).stdout).toContain("0 differences");
  expect((await crux("note", pid)).stdout).toBe(`Process ${pid} has no note.\n`);
});
