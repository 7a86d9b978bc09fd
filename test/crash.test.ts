/** The daemon is killed in the middle of an agent's work: nothing of it survives, and nothing it had promised is lost. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { onStage, server, startModel, world } from "./harness/stage.ts";
import { settled } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import type { ModelServerOptions } from "./model-server/server.ts";

onStage();

const serve = (script: ModelServerOptions["script"]) => startModel({ script });
const bypass = (...words: string[]) =>
  world.start(["--permission-mode", "bypass", ...words], { env: modelEnv(server) });
const bash = (command: string) => toolUse({ name: "bash", input: { command } });
const SLEEPERS = /\bsleep 300$/;
/** A family in which one has left the process group and the session of the shell. */
const FAMILY = bash("sleep 300 & setsid sleep 300 & (setsid -f sleep 300) ; sleep 300");

function killDaemon(): number {
  const pid = world.daemonPid!;
  process.kill(pid, "SIGKILL");
  return pid;
}

const sleepers = (count: number) =>
  settled(
    () => world.commands(SLEEPERS).length,
    (found) => (count === 0 ? found === 0 : found >= count),
  );

it("kill -9 of the daemon: the client hears UNAVAILABLE and how to go on, and does not hang", async () => {
  await serve(FAMILY);
  const [screen, json] = [bypass("work"), bypass("work", "--json")];
  expect(await sleepers(8)).toBeGreaterThanOrEqual(8);
  killDaemon();
  const [first, second] = await Promise.all([screen.done, json.done]);
  expect(first.code).toBe(1);
  expect(first.stderr).toMatch(
    /^✗ \[UNAVAILABLE\] the daemon ended while process \d+ worked; what it had done is kept\n {2}→ hint: crux resume \d+ .*\n$/,
  );
  expect([second.code, second.stderr]).toEqual([1, ""]);
  expect(JSON.parse(second.stdout)).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
  expect((await world.crux(["ps"])).code).toBe(0);
  expect(await sleepers(0)).toBe(0);
});

it("kill -9 of the daemon: the next command starts another, and no OS process of the old one is left", async () => {
  await serve(FAMILY);
  const run = bypass("work");
  expect(await sleepers(4)).toBeGreaterThanOrEqual(4);
  const before = world.processes();
  const old = killDaemon();
  await run.done;
  const { code, stdout } = await world.crux(["ps"]);
  expect(code).toBe(0);
  expect(stdout).toContain("1 active");
  expect(world.daemonPid).not.toBe(old);
  // the agent goes on, and may have begun its next command by now
  expect(world.processes()).toContain(world.daemonPid);
  const survivors = () => world.processes().filter((pid) => before.includes(pid));
  expect(await settled(survivors, (pids) => pids.length === 0)).toEqual([]);
  const left = ["crux.cookie", "crux.lock", "crux.owner", "crux.pid", "crux.sock"];
  expect(readdirSync(join(world.dir, "run/crux")).sort()).toEqual(left);
  expect((await world.crux(["daemon", "status"])).stdout).toContain(
    `[daemon] running (PID ${world.daemonPid}) |`,
  );
});

it("pids go on rising after a kill -9 that left a stale socket", async () => {
  await serve([{ default: text("ok") }]);
  const spawned = async () =>
    Number((await world.crux(["-q", "-d", "--agent", "none", "x"], { env: modelEnv(server) })).stdout);
  const before = [await spawned(), await spawned(), await spawned()];
  expect(before).toEqual([1, 2, 3]);
  killDaemon();
  expect(await spawned()).toBe(4);
  killDaemon();
  expect(existsSync(world.socket)).toBe(true);
  expect(await spawned()).toBe(5);
});

it("kill -9 while a file is written leaves it whole, old or new, and no temporary file beside it", async () => {
  const [old, fresh] = ["old\n".repeat(400_000), "new\n".repeat(400_000)];
  const write = toolUse({ name: "write", input: { file_path: "big.txt", content: fresh } });
  const look = toolUse({ name: "view", input: { file_path: "big.txt", limit: 1 } });
  for (let round = 0; round < 3; round++) {
    world.write("big.txt", old);
    await serve([look, write, text("never").stall()]);
    const run = bypass("write");
    await server.waitFor(() => server.requestCount === 2);
    // somewhere between the reply and the end of the write; where, differs from round to round
    await settled(
      () => readdirSync(world.work).length,
      (files) => files > 1,
      40 * round,
    );
    killDaemon();
    expect((await run.done).code).toBe(1);
    await world.crux(["ps"]);
    expect(readdirSync(world.work)).toEqual(["big.txt"]);
    expect([old, fresh]).toContain(world.file("big.txt"));
    await server.close();
  }
});

it("a run that the daemon's death cut off comes back, says how it goes on, and the file of its edit stands", async () => {
  world.write("a.txt", "one\n");
  const view = toolUse({ name: "view", input: { file_path: "a.txt" } });
  const edit = toolUse({ name: "edit", input: { file_path: "a.txt", old_string: "one", new_string: "uno" } });
  await serve([view, edit, text("never").stall()]);
  const run = bypass("work");
  await server.waitFor(() => server.requestCount === 3);
  expect(readFileSync(join(world.work, "a.txt"), "utf8")).toBe("uno\n");
  killDaemon();
  expect((await run.done).code).toBe(1);
  await world.crux(["ps"]);
  expect(world.file("a.txt")).toBe("uno\n");
  expect(readdirSync(world.work)).toEqual(["a.txt"]);
  expect(world.log()).toMatch(/brought back: pid 1\n/);
  // the daemon has no key of its own
  const words = await settled(
    async () => (await world.crux(["logs", "1", "-n", "2"])).stdout,
    (said) => said.includes("could not be resumed"),
  );
  expect(words).toMatch(/its daemon stopped while it worked.*\n.*could not be resumed.*; crux cont 1 .*\n$/);
  expect(server.openSockets).toBe(0);
});
