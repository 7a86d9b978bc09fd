/** A fork that a call of the model starts: what it is sent, what the cache gives it, what a person sees of it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { escapeVariables } from "../src/abi/compose/variables.ts";
import { unconfined } from "./harness/confined.ts";
import { modelEnv } from "./harness/model.ts";
import { onSharedStage, server, startModel, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelRequest, userTexts } from "./model-server/request.ts";

onSharedStage();

const TAG = "<fork-boilerplate>";
const said = ({ messages }: ModelRequest) =>
  messages.flatMap((each) => (each.role === "user" ? userTexts(each) : []));
const directiveOf = (request: ModelRequest) =>
  said(request)
    .find((each) => each.startsWith(TAG))
    ?.split("\n\n")
    .at(-1) ?? "";
const forkCall = (prompt: string) => ({
  name: "agent",
  input: { description: `does ${prompt}`, prompt, subagent_type: "fork" },
});

it("two forks of one reply have all bytes up to their directives, read the cache, cannot fork, and report", async () => {
  world.settings({ agents: { fork: true } });
  const go = Promise.withResolvers<void>();
  await startModel({
    script: async (request) => {
      const directive = directiveOf(request);
      if (directive === "") {
        if (request.assistantTurns === 0) return toolUse([forkCall("dig left"), forkCall("dig right")]);
        return text(
          said(request)
            .join("\n")
            .match(/<task-notification>/g)?.length === 2
            ? "Both are back."
            : "They dig.",
        );
      }
      if (request.assistantTurns === 1) {
        const { input, ...call } = forkCall("dig deeper");
        const { subagent_type: _, ...unnamed } = input;
        return toolUse({ ...call, input: directive === "dig left" ? input : unnamed });
      }
      await go.promise;
      return text(`${directive}: ${request.lastToolResults.map(({ content }) => String(content)).join()}`);
    },
    promptCache: { minTokens: 512 },
  });
  const env = modelEnv(server, "anthropic");
  await using window = new TerminalWindow(world, ["lead please"], { columns: 120, env });
  await window.until(({ rows }) => rows.filter((row) => /^○ agent fork does dig/.test(row)).length === 2);
  const tree = await world.crux(["tree"], { env });
  expect(tree.stdout.match(/fork/g)).toHaveLength(2);
  go.resolve();
  await window.shows("Both are back.");
  const forks = server.requests.filter((each) => directiveOf(each) !== "" && each.assistantTurns === 1);
  expect(forks.map(directiveOf).sort()).toEqual(["dig left", "dig right"]);
  const [one, two] = forks.map(({ rawBody }) => rawBody.slice(0, rawBody.indexOf(TAG)));
  expect(one).toBe(two);
  for (const { cache } of forks)
    expect(cache!.read / (cache!.read + cache!.write + cache!.input)).toBeGreaterThan(0.8);
  const results = server.requests
    .filter(({ assistantTurns: n }) => n === 2)
    .flatMap(({ lastToolResults }) => lastToolResults);
  expect(
    results.filter(({ content }) => String(content).includes("[PERMISSION]: a fork cannot be forked")),
  ).toHaveLength(2);
});

const MEMORY = fileURLToPath(
  new URL("../node_modules/@modelcontextprotocol/server-memory/dist/index.js", import.meta.url),
);
/** As an agent file has it. */
const written = (path: string) => JSON.stringify(escapeVariables(path));

it.skipIf(unconfined !== undefined)(
  "one in a worktree calls its parent's own server, works in its worktree and reaches no file of the checkout",
  async () => {
    world.settings({ agents: { fork: true } });
    const folder = join(world.dir, "config/crux/agents/splitter");
    mkdirSync(folder, { recursive: true });
    const server0 = `{ name: memory, command: ${written(process.execPath)}, args: [${written(MEMORY)}], env: { MEMORY_FILE_PATH: "$MEMORY_PLACE" } }`;
    writeFileSync(
      join(folder, "agent.yaml"),
      `name: splitter\ntools: [agent, bash, mcp__memory]\nmcp:\n  - ${server0}\n`,
    );
    writeFileSync(join(folder, "instructions.md"), "Do as you are told.\n");
    writeFileSync(join(world.work, "a.txt"), "one\n");
    const git = (...args: string[]) => execFileSync("git", args, { cwd: world.work, encoding: "utf8" });
    git("init", "-q", "-b", "trunk");
    git("add", "a.txt");
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first");
    const entities = [{ name: "Ada", entityType: "person", observations: ["counts"] }];
    const seen = 'pwd; echo two > a.txt; cat a.txt; cat "$MAIN/a.txt" || echo unreadable';
    const steps = [
      { name: "bash", input: { command: seen } },
      { name: "mcp__memory__create_entities", input: { entities } },
    ];
    await startModel({
      script: (request) => {
        const { assistantTurns: n } = request;
        if (directiveOf(request) !== "")
          return steps[n - 1] === undefined ? text("Done.") : toolUse(steps[n - 1]!);
        if (n > 0) return text(said(request).join("\n").includes("completed") ? "It is back." : "It works.");
        const call = forkCall("work there");
        return toolUse({ ...call, input: { ...call.input, isolation: "worktree" } });
      },
    });
    const memoryFile = join(world.work, "memory.json");
    const env = { ...modelEnv(server, "anthropic"), MEMORY_PLACE: memoryFile, MAIN: world.work };
    const args = ["--agent", "splitter", "--permission-mode", "bypass", "split please"];
    await using window = new TerminalWindow(world, args, { columns: 120, env });
    await window.shows("It is back.");
    const own = server.requests.filter((each) => directiveOf(each) !== "");
    expect(own.map(({ tools }) => JSON.stringify(tools))).toEqual(
      own.map(() => JSON.stringify(server.requests[0]!.tools)),
    );
    const [, ran, noted] = own.map(({ lastToolResults }) => String(lastToolResults[0]?.content));
    expect(ran).toMatch(/^\S*\/\.crux\/worktrees\/agent-[0-9a-f]{12}\ntwo\n[\s\S]*unreadable/);
    expect(noted).toContain("Ada");
    expect(readFileSync(memoryFile, "utf8")).toContain("Ada");
    expect(readFileSync(join(world.work, "a.txt"), "utf8")).toBe("one\n");
    expect(said(own[0]!).find((each) => each.startsWith(TAG))).toContain(
      "You work in a git worktree of your own",
    );
  },
);
