/** Another model takes over: from one vendor's server to another's, seen from the command line, the money and the record. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { World } from "./harness/world.ts";
import { overloaded, text, thinking, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let first: ModelServer;
let second: ModelServer;
let env: Record<string, string>;

beforeTries(
  () => {
    world = new World();
    world.settings({ models: { "test-model": { price: { input: 10, output: 50 } } } });
  },
  () => world.close(),
);
beforeEach(async () => {
  let asked = 0;
  first = await startModelServer({
    script: () =>
      asked++ === 0
        ? thinking("where is it?", "sig-of-the-first").and(toolUse({ name: "ls", input: {} }))
        : overloaded({ "retry-after-ms": "1" }),
  });
  second = await startModelServer({ script: () => text("found it") });
  env = { ...modelEnv(first, "anthropic"), ...modelEnv(second, "openai") };
});
afterEach(async () => {
  await first.close();
  await second.close();
});

const toOther = ["-m", "anthropic/sonnet", "--fallback-model", "openai/test-model"];

it("answers after the third overload: both are named, each is paid, and the record replays", async () => {
  const { code, stdout, stderr } = await world.crux([...toOther, "look"], { env });
  expect([code, stderr.match(/model: sonnet overloaded;.*/)?.[0]]).toEqual([
    0,
    "model: sonnet overloaded; test-model answers for the rest of the run",
  ]);
  expect(stdout).toContain("found it");
  expect(first.requests).toHaveLength(4);
  expect(second.requests).toHaveLength(1);
  expect(JSON.stringify(second.requests[0]?.body)).not.toContain("sig-of-the-first");
  const { stdout: cost } = await world.crux(["cost", "--by", "model", "--json"]);
  const { lines } = (JSON.parse(cost) as { data: { lines: { key: string; calls: number }[] } }).data;
  expect(lines.find(({ key }) => key === "test-model")).toMatchObject({ calls: 1 });
  const { stdout: journal } = await world.crux(["journal", "1", "--json"]);
  expect(journal).toContain("sig-of-the-first");
  expect((await world.crux(["replay", "1"])).stdout).toContain("0 differences");
});

it("of a setting answers too", async () => {
  await world.crux(["config", "set", "fallbackModel", '["openai/test-model"]']);
  const { code, stdout } = await world.crux(["-m", "anthropic/sonnet", "-q", "look"], { env });
  await world.crux(["config", "unset", "fallbackModel"]);
  expect([code, stdout]).toEqual([0, "found it\n"]);
});

it("that is not set up is refused before anything starts", async () => {
  const { code, stderr } = await world.crux([...toOther, "look"], { env: modelEnv(first, "anthropic") });
  expect(code).toBe(1);
  expect(stderr).toContain("--fallback-model: the model driver openai is not set up");
  expect(first.requests).toHaveLength(0);
});

it("has its own cost in the result of print mode", async () => {
  world.settings({
    models: {
      "test-model": { price: { input: 10, output: 50 } },
      "claude-sonnet-5-5": { price: { input: 3, output: 15 } },
    },
  });
  const { stdout } = await world.crux(["-p", "--output-format", "json", ...toOther, "look"], { env });
  const { modelUsage, total_cost_usd: total } = JSON.parse(stdout) as {
    modelUsage: Record<string, { costUSD?: number }>;
    total_cost_usd: number;
  };
  const each = Object.values(modelUsage).map(({ costUSD = 0 }) => costUSD);
  expect(each).toHaveLength(2);
  for (const usd of each) expect(usd).toBeGreaterThan(0);
  expect(each.reduce((sum, usd) => sum + usd, 0)).toBeCloseTo(total, 5);
});
