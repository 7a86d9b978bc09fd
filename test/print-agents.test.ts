/** `crux -p` with agents that work in the background: the command waits for what they find, and leaves none behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { checkedLines, type Line } from "../src/cli/print/testing.ts";
import { modelEnv } from "./harness/model.ts";
import { onSharedStage, server, startModel, world } from "./harness/stage.ts";
import { CRUX, settled } from "./harness/world.ts";
import { type Reply, text, toolUse } from "./model-server/reply.ts";
import type { ModelRequest } from "./model-server/request.ts";

onSharedStage();

const stream = ["-p", "--output-format", "stream-json"] as const;
const dig = (prompt = "dig") =>
  toolUse({ name: "agent", input: { description: "digs", prompt, run_in_background: true } });
const isChild = ({ messages }: ModelRequest) => JSON.stringify(messages[0]).includes("dig");
const hasHeard = ({ rawBody }: ModelRequest) => rawBody.includes("<task-notification>");

/** A lead that starts an agent and says that it waits; what it says once it has heard of the end. */
async function serve(child: () => Reply, heard: () => Reply = () => text("It found gold.")): Promise<void> {
  await startModel({
    script: (request) => {
      if (isChild(request)) return child();
      if (request.assistantTurns === 0) return dig();
      return hasHeard(request) ? heard() : text("Waiting.");
    },
  });
}

function byHand(...args: readonly string[]): ChildProcess & { readonly lines: () => Line[] } {
  const env = { ...world.env, ...modelEnv(server) };
  const child = spawn(CRUX, args, { cwd: world.work, env, stdio: ["pipe", "pipe", "inherit"] });
  const out: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  const lines = (): Line[] => {
    const all = Buffer.concat(out).toString("utf8");
    const whole = all.slice(0, all.lastIndexOf("\n") + 1);
    return whole === "" ? [] : checkedLines(whole);
  };
  return Object.assign(child, { lines });
}

const results = (lines: readonly Line[]): unknown[] =>
  lines.flatMap(({ type, result }) => (type === "result" ? [result] : []));

describe("agents in the background of crux -p", () => {
  it.each([
    ["text", (out: string) => expect(out).toBe("It found gold.\n")],
    ["json", (out: string) => expect(results(checkedLines(out))).toEqual(["It found gold."])],
    ["stream-json", (out: string) => expect(results(checkedLines(out))).toEqual(["It found gold."])],
  ])("are waited for: the one %s result is that of the run that heard of them", async (format, check) => {
    const gate = Promise.withResolvers<void>();
    await serve(() => text("Gold.").until(gate.promise));
    const running = world.crux(["-p", "--output-format", format, "lead"], { env: modelEnv(server) });
    await settled(
      async () => server.requests.some((request) => !isChild(request) && request.assistantTurns === 1),
      (is) => is,
    );
    gate.resolve();
    const { code, stdout } = await running;
    expect(code).toBe(0);
    check(stdout);
    expect(server.requests).toHaveLength(4);
  });

  it("while stdin is open, each run has its result, and the last one is waited for", async () => {
    const gate = Promise.withResolvers<void>();
    await serve(() => text("Gold.").until(gate.promise));
    const child = byHand(...stream, "--input-format", "stream-json");
    child.stdin?.write(`${JSON.stringify({ type: "user", message: { role: "user", content: "lead" } })}\n`);
    await settled(
      async () => results(child.lines()),
      (all) => all.length > 0,
    );
    child.stdin?.end();
    gate.resolve();
    expect((await once(child, "close"))[0]).toBe(0);
    expect(results(child.lines())).toEqual(["Waiting.", "It found gold."]);
  });

  it("end with the command when that is interrupted, and nothing is asked of the model any more", async () => {
    await serve(() => text("Gold.").until(new Promise(() => {})));
    const child = byHand(...stream, "lead");
    await settled(
      async () => child.lines().filter(({ type }) => type === "assistant").length,
      (n) => n === 2,
    );
    // its run is over, and no longer at its last words
    const activities = async () => {
      const { stdout } = await world.crux(["ps", "--json", "-v"]);
      return (JSON.parse(stdout) as { data: { processes: Line[] } }).data.processes.map(
        (each) => each.activity,
      );
    };
    expect(await settled(activities, (all) => all.includes("waiting"))).toContain("waiting");
    child.kill("SIGINT");
    expect((await once(child, "close"))[0]).toBe(130);
    expect(child.lines().at(-1)).toMatchObject({
      terminal_reason: "aborted_tools",
      result: "Waiting.",
      errors: ["stopped while its agents worked"],
    });
    await expectNoAgent();
    expect(server.requests).toHaveLength(3);
  });

  it("shell commands are not waited for: they end with the session's first command, and are kept by later ones", async () => {
    const input = { command: "sleep 600; echo over", run_in_background: true };
    await startModel({
      script: ({ assistantTurns: n }) => (n % 2 === 0 ? toolUse({ name: "bash", input }) : text("Runs.")),
    });
    const jobs = async () => {
      const { data } = JSON.parse((await world.crux(["jobs", "--json"], {})).stdout) as {
        data: { jobs: Line[] };
      };
      return data.jobs.map(({ state }) => state);
    };
    const env = modelEnv(server);
    const run = (...args: string[]) => world.crux(["-p", "--allow", "bash(*)", ...args, "start it"], { env });
    expect((await run()).stdout).toBe("Runs.\n");
    expect([await jobs(), server.requests.length]).toEqual([["killed"], 2]);
    expect((await run("-c")).stdout).toBe("Runs.\n");
    expect([await jobs(), server.requests.length]).toEqual([["killed", "running"], 4]);
  });

  it("end with a run that fails", async () => {
    await serve(() => text("Gold.").until(new Promise(() => {})));
    const { code, stdout } = await world.crux([...stream, "--max-turns", "1", "lead"], {
      env: modelEnv(server),
    });
    expect([code, checkedLines(stdout).at(-1)?.subtype]).toEqual([1, "error_max_turns"]);
    await expectNoAgent();
    expect(server.requests.filter((request) => !isChild(request))).toHaveLength(1);
  });
});

it("system/init names the agents and skills that can be used, each once", async () => {
  await startModel({ script: () => text("Done.") });
  world.write(".crux/agents/Explore.md", "---\nname: Explore\ndescription: ours\n---\nLook.\n");
  world.write(".crux/agents/broken.md", "---\nname: [\n---\n");
  world.write(".crux/skills/broken/SKILL.md", "no front matter\n");
  world.write(".crux/skills/whole/SKILL.md", "---\nname: whole\ndescription: ours\n---\nDo it.\n");
  expect((await world.crux(["trust", "--yes"], {})).code).toBe(0);
  const { stdout } = await world.crux([...stream, "hello"], { env: modelEnv(server) });
  const { agents, slash_commands: skills } = checkedLines(stdout)[0] as unknown as Record<string, string[]>;
  expect(agents?.filter((name) => /^(explore|broken)$/i.test(name))).toEqual(["Explore"]);
  expect(skills).toContain("whole");
  expect(skills).not.toContain("broken");
});

describe("what a run of crux -p has used", () => {
  it("counts the agents it has started, by model, and attempts that broke off; in sum it is what the run cost", async () => {
    world.settings({
      models: {
        "test-large": { price: { input: 10, output: 10 } },
        "test-small": { price: { input: 1, output: 1 } },
      },
    });
    const used = { input: 100, output: 10 };
    let tries = 0;
    await startModel({
      script: (request) => {
        if (isChild(request)) return text("Gold.").usage({ ...used, cacheRead: 50 });
        if (request.assistantTurns > 0) return text("Done.").usage(used);
        const input = { description: "digs", prompt: "dig", model: "openai/test-small" };
        const call = toolUse({ name: "agent", input }).usage(used);
        return tries++ === 0 ? text("Lost.").usage(used).truncate({ afterEvents: 2 }) : call;
      },
    });
    const env = modelEnv(server);
    const args = ["-p", "--model", "openai/test-large", "--output-format", "json", "lead"];
    const { stdout } = await world.crux(args, { env });
    const [result] = checkedLines(stdout);
    const { modelUsage, usage, total_cost_usd: total } = result as unknown as Used;
    const { "test-large": large, "test-small": small } = modelUsage;
    expect(server.requests).toHaveLength(4);
    expect(small).toMatchObject({ inputTokens: 100, outputTokens: 10, cacheReadInputTokens: 50 });
    // the attempt that broke off counts as estimated
    expect(large?.inputTokens).toBeGreaterThan(200);
    expect(usage.input_tokens).toBe((large?.inputTokens ?? 0) + (small?.inputTokens ?? 0));
    expect(usage.cache_read_input_tokens).toBe(50);
    expect((large?.costUSD ?? 0) + (small?.costUSD ?? 0)).toBeCloseTo(total, 9);
  });
});

interface Used {
  readonly total_cost_usd: number;
  readonly usage: { readonly input_tokens: number; readonly cache_read_input_tokens: number };
  readonly modelUsage: Readonly<
    Record<string, { inputTokens: number; outputTokens: number; costUSD?: number } | undefined>
  >;
}

/** None of those that a call has started still lives; the sessions that wait for a message do. */
async function expectNoAgent(): Promise<void> {
  const called = async () => {
    const { stdout } = await world.crux(["ps", "--json", "--verbose"], {});
    const { data } = JSON.parse(stdout) as { data: { processes: Line[] } };
    return data.processes.filter(({ agent_id, exit }) => agent_id !== undefined && exit === null).length;
  };
  expect(await settled(called, (n) => n === 0)).toBe(0);
}
