/** What the model is asked about thinking and effort, through the booted system, and what of it is cached. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { inTurn, modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { World } from "./harness/world.ts";
import { blocks, text, thinking, toolUse } from "./model-server/reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;

beforeTries(
  () => {
    world = new World();
  },
  () => world.close(),
);
afterEach(() => server?.close());

const serve = async (options: ModelServerOptions) => {
  server = await startModelServer({ verifySignatures: true, ...options });
};
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  world.crux([...args, "do it"], { env: { ...modelEnv(server, "anthropic"), ...env } });
const asked = () => server.requests.map(({ body }) => [body.thinking, body.output_config]);

function agent(name: string, lines: readonly string[]): void {
  const dir = join(world.dir, "config/crux/agents", name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "agent.yaml"), [`name: ${name}`, ...lines, ""].join("\n"));
  writeFileSync(join(dir, "instructions.md"), "Do as you are told.\n");
}

describe("a run", () => {
  it("asks for thinking, and for effort as the flag, the agent file and the settings say, in this order", async () => {
    await serve({ script: text("Done.") });
    agent("eager", ["effort: low"]);
    world.write("../config/crux/settings.json", '{"effort": "medium"}');
    for (const args of [["--effort", "max", "--agent", "eager"], ["--agent", "eager"], []])
      expect((await run(["-q", "-m", "opus", ...args])).code).toBe(0);
    const effort = ["max", "low", "medium"];
    expect(asked()).toEqual(effort.map((each) => [{ type: "adaptive" }, { effort: each }]));
    expect(server.rejected).toEqual([]);
  });

  it("refuses a level that does not exist, with the list, before anything is sent", async () => {
    await serve({ script: text("Done.") });
    const { code, stderr } = await run(["--effort", "much"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("low, medium, high, xhigh, max")]);
    expect(server.requestCount).toBe(0);
  });

  it("sends thinking back with its signature between calls; CRUX_DISABLE_THINKING asks for none", async () => {
    world.write("a.txt", "one\n");
    const look = blocks(thinking("Look first."), toolUse({ name: "view", input: { file_path: "a.txt" } }));
    await serve({ script: inTurn(look, look, text("Done.")) });
    expect((await run(["-q", "-m", "claude-haiku-4-5"])).code).toBe(0);
    const budget = { type: "enabled", budget_tokens: 6_000 };
    expect(server.requests.map(({ body }) => body.thinking)).toEqual([budget, budget, budget]);
    expect((await run(["-q", "-m", "haiku"], { CRUX_DISABLE_THINKING: "1" })).code).toBe(0);
    expect(server.requests.at(-1)?.body.thinking).toEqual({ type: "disabled" });
    expect(server.rejected).toEqual([]);
  });

  it("of 100 turns has at least 95 % of its input read from the cache", async () => {
    world.write("a.txt", "a line of the file\n".repeat(5));
    const look = (n: number) =>
      blocks(
        thinking(`Look ${n}.`),
        toolUse({ name: "view", input: { file_path: "a.txt", offset: (n % 5) + 1 } }),
      );
    await serve({
      script: ({ assistantTurns: n }) => (n < 99 ? look(n) : text("Done.")),
      promptCache: { minTokens: 512 },
    });
    const { code } = await run(["-q", "-m", "opus", "--max-steps", "120"]);
    expect([code, server.requestCount]).toEqual([0, 100]);
    const used = server.requests.map(({ cache }) => cache ?? { read: 0, write: 0, input: 0 });
    const sum = (of: (use: (typeof used)[number]) => number) => used.reduce((all, use) => all + of(use), 0);
    const total = sum(({ read, write, input }) => read + write + input);
    expect(sum(({ read }) => read) / total).toBeGreaterThan(0.95);
    expect(used.map(({ input }) => input)).toEqual(used.map(() => 0));
  });
});
