/** Money from end to end: a model server on loopback, a price in the settings, and no more spent than was given. */
import { afterEach, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;

const PRICE = { input: 10, output: 50 };

beforeTries(
  () => {
    world = new World();
    world.settings({ models: { "test-": { price: PRICE } } });
  },
  () => world.close(),
);
afterEach(() => server.close());

const look = toolUse({ name: "ls", input: {} }, { text: "Looking once more." });

interface CostLine {
  readonly key: string;
  readonly calls: number;
  readonly tokens: number;
  readonly usd: number;
}

async function costs(by: string): Promise<readonly CostLine[]> {
  const { stdout } = await world.crux(["cost", "--by", by, "--json"]);
  return (JSON.parse(stdout) as { data: { lines: CostLine[] } }).data.lines;
}

const sum = (lines: readonly CostLine[]): number =>
  lines.reduce((all, { usd }) => all + Math.round(usd * 1e6), 0);

it("a run with --max-usd ends with 2, has cost no more, and more is given and used", async () => {
  server = await startModelServer({ script: () => look });
  const env = modelEnv(server);
  const run = await world.crux(["--max-usd", "0.5", "--max-steps", "1000", "-q", "look"], { env });
  expect(run.code).toBe(2);
  const [line] = await costs("pid");
  expect(line?.usd).toBeGreaterThan(0);
  expect(line?.usd).toBeLessThanOrEqual(0.5);
  expect(line?.calls).toBe(server.requests.length);
  expect((await costs("model"))[0]).toMatchObject({ key: "test-model", usd: line?.usd });
  expect(sum(await costs("day"))).toBe(sum([line as CostLine]));
  const pid = line?.key ?? "";
  const raised = await world.crux(["budget", "set", pid, "--usd", "1"]);
  expect([raised.code, raised.stdout]).toEqual([0, `[kernel] PID ${pid}: budget $1.00\n`]);
  const added = await world.crux(["budget", pid, "--add", "50000", "--json"]);
  expect(JSON.parse(added.stdout)).toMatchObject({ ok: false, error: { code: "INVALID" } });
  await world.crux(["resume", pid], { env });
  expect((await world.crux(["wait", pid, "-q"])).code).toBe(2);
  const after = sum(await costs("pid"));
  expect(after).toBeGreaterThan(sum([line as CostLine]));
  expect(after).toBeLessThanOrEqual(1_000_000);
});

it("agents below one budget never spend more than it, and their sum is that of their calls", async () => {
  server = await startModelServer({ script: () => look });
  const before = sum(await costs("pid"));
  const agents = ["a", "b", "c"].map(
    (name) => `  ${name}: { agent: none, intent: look, max_steps: 1000, restart: temporary }`,
  );
  world.write("crux.compose.yaml", `name: team\nbudget: { usd: 0.6 }\nservices:\n${agents.join("\n")}\n`);
  const { code } = await world.crux(["compose", "up", "--trust"], { env: modelEnv(server) });
  expect(code).toBe(2);
  const spent = sum(await costs("pid")) - before;
  expect(spent).toBeGreaterThan(0);
  expect(spent).toBeLessThanOrEqual(600_000);
});

it("a limit in money refuses a model without a price before it is asked; bad amounts are told", async () => {
  server = await startModelServer({ script: () => text("hello") });
  const env = { ...modelEnv(server), OPENAI_MODEL: "nobody-knows" };
  const run = await world.crux(["--max-usd", "1", "hello"], { env });
  expect([run.code, server.requests.length]).toEqual([2, 0]);
  expect(run.stdout + run.stderr).toContain("models.<id>.price");
  for (const args of [
    ["--max-usd", "much", "hello"],
    ["--max-time", "soon", "hello"],
    ["budget", "set", "1"],
    ["budget", "set", "1", "--tokens", "0"],
    ["budget", "set", "1", "--usd", "0"],
    ["budget", "1", "--add", "some"],
    ["cost", "--by", "colour"],
    ["cost", "--since", "yesterday"],
  ]) {
    const bad = await world.crux(args, { env });
    expect([args, bad.code, bad.stderr]).toEqual([args, 1, expect.stringContaining("INVALID")]);
  }
});

it("what has ended is known by its pid, also to the next daemon", async () => {
  server = await startModelServer({ script: () => text("Done.") });
  const env = modelEnv(server);
  const pid = (await world.crux(["-q", "-d", "look"], { env })).stdout.trim();
  expect((await world.crux(["wait", pid, "-q"])).code).toBe(0);
  await world.crux(["daemon", "restart"]);
  const data = async (...words: string[]) => JSON.parse((await world.crux([...words, "--json"])).stdout).data;
  const mine = (found: { processes: { pid: number }[] }) =>
    found.processes.filter((each) => each.pid === Number(pid));
  expect(mine(await data("ps"))).toEqual([]);
  expect(mine(await data("ps", "-a"))).toMatchObject([{ state: "dead", intent: "look" }]);
  const [row] = (await data("tree", pid)).processes;
  expect(row).toMatchObject({ pid: Number(pid), state: "dead", exit_code: 0 });
  expect(row.cost_usd).toBeGreaterThan(0);
  const [account] = (await data("budget", pid)).accounts;
  expect(account).toMatchObject({ pid: Number(pid), running: false, own: { usd: row.cost_usd } });
  expect((await data("cost", pid)).lines).toMatchObject([{ key: pid, usd: row.cost_usd }]);
  expect(await data("wait", pid, "-v")).toMatchObject({ exit_code: 0, cost_usd: row.cost_usd });
});

it("a session that rests has its account, also in the next daemon", async () => {
  server = await startModelServer({ script: () => text("Hello.") });
  const env = modelEnv(server);
  expect((await world.crux(["chat", "-q"], { stdin: "hello", env })).code).toBe(0);
  const data = async (...words: string[]) => JSON.parse((await world.crux([...words, "--json"])).stdout).data;
  const pid = String((await data("sessions")).sessions[0].pid);
  await world.crux(["budget", "set", pid, "--tokens", "90000", "--steps", "90", "--wall", "1h"]);
  const [before] = (await data("budget", pid)).accounts;
  expect(before).toMatchObject({
    limits: { tokens: 90_000 },
    left: { tokens: 90_000 - before.spent.tokens },
  });
  expect([before.spent.steps, before.wall_ms]).toEqual([1, expect.any(Number)]);
  process.kill(world.daemonPid!, "SIGKILL");
  expect((await data("budget", pid)).accounts).toEqual([{ ...before, running: false }]);
});
