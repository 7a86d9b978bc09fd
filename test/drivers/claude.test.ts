import { accessSync, constants } from "node:fs";
import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asPid, asProcUuid } from "../../src/abi/ids.ts";
import { HostProcesses } from "../../src/dev/host/exec.ts";
import { ClaudeDriver } from "../../src/llm/claude/claude.ts";
import { contractRequest, driverContract } from "../../src/llm/contract.ts";
import { fold } from "../../src/llm/fold.ts";
import { text, thinking, toolUse } from "../model-server/reply.ts";
import { type ModelServer, startModelServer } from "../model-server/server.ts";
import { serverRig } from "./rig.ts";

const none = new AbortController().signal;

/** The real program, as scripts/install-claude.mjs prints its path. */
const program = process.env.CRUX_TEST_CLAUDE ?? "";
const reason = whyNot();
if (reason !== undefined) console.log(`skipped: ${reason}`);

interface Bench {
  readonly home: string;
  readonly exec: HostProcesses;
  driver(server: ModelServer): ClaudeDriver;
  dispose(): Promise<void>;
}

async function openBench(): Promise<Bench> {
  const home = await mkdtemp(join(tmpdir(), "crux-claude-"));
  await symlink(program, join(home, "claude"));
  const exec = new HostProcesses({ kernelId: "test", epoch: 1 });
  return {
    home,
    exec,
    driver: (server) => {
      const env = {
        PATH: `${home}:/usr/bin:/bin`,
        HOME: home,
        ANTHROPIC_BASE_URL: server.url,
        ANTHROPIC_API_KEY: "test",
      };
      const signal = new AbortController().signal;
      const caller = { pid: asPid(1), uuid: asProcUuid("u"), cwd: home, env, signal };
      return new ClaudeDriver(caller, exec, join(home, "tmp"));
    },
    dispose: async () => {
      await exec.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

describe.skipIf(reason !== undefined)("the claude program", () => {
  let bench: Bench | undefined;

  driverContract(
    serverRig({
      name: "claude",
      connect: async (server) => {
        bench = await openBench();
        return bench.driver(server);
      },
      quiet: async () => {
        expect(bench?.exec.live).toBe(0);
        await expect(readdir(join(bench?.home ?? "", "tmp")).catch(() => [])).resolves.toEqual([]);
      },
      dispose: async () => bench?.dispose(),
      stops: ["end_turn", "max_tokens", "refusal"],
      errors: [
        { kind: "auth", status: 401 },
        { kind: "model_not_found", status: 404 },
        { kind: "rate_limit", status: 429 },
        { kind: "server", status: 500 },
        { kind: "overloaded", status: 529 },
      ],
      can: { thinking: true, retryAfter: false, interleave: true, ownRetries: true },
    }),
  );

  it("stream() gives the program our system prompt and our tools, and none of its own", async () => {
    const server = await startModelServer({ script: text("Hi.") });
    const bench = await openBench();
    try {
      await fold(bench.driver(server).stream(contractRequest(), new AbortController().signal));
      const { system, tools } = server.requests[0]!;
      expect(system).toContain("You are a test.");
      expect(tools.filter((name) => name !== "DeferredToolPlaceholder")).toEqual(["mcp__crux__view"]);
    } finally {
      await server.close();
      await bench.dispose();
    }
  });

  it("one child answers a conversation: as many requests as turns, each with the one before as its beginning", async () => {
    const long = "x".repeat(200_000);
    const server = await startModelServer({
      script: [
        thinking("I look.").and(
          toolUse([
            { name: "mcp__crux__view", input: { path: "a" } },
            { name: "mcp__crux__view", input: { path: "b" } },
          ]),
        ),
        thinking("I see.").and(text("Seen.")),
        text("Again."),
      ],
    });
    const bench = await openBench();
    try {
      const driver = bench.driver(server);
      const request = contractRequest();
      const messages = [...request.messages];
      const ask = async () => {
        const { blocks } = await fold(driver.stream({ ...request, messages: [...messages] }, none));
        messages.push({ role: "assistant", content: blocks });
        return blocks;
      };
      const calls = (await ask()).flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
      const contents = [long, "the second"];
      messages.push({
        role: "user",
        content: calls.map((id, i) => ({ type: "tool_result", tool_use_id: id, content: contents[i] ?? "" })),
      });
      expect(await ask()).toContainEqual({ type: "text", text: "Seen." });
      messages.push({ role: "user", content: [{ type: "text", text: "And again?" }] });
      expect(await ask()).toContainEqual({ type: "text", text: "Again." });
      expect(bench.exec.live).toBe(1);
      // a text is the same to the server whether it stands alone or in a block
      const plain = (key: string, value: unknown) =>
        key === "cache_control"
          ? undefined
          : typeof value === "string" && key === "content"
            ? [{ type: "text", text: value }]
            : value;
      const sent = server.requests.map(({ body }) =>
        (body as { messages: object[] }).messages.map((each) => JSON.stringify(each, plain)),
      );
      const [first = [], second = [], third = []] = sent;
      expect([sent.length, second.length - first.length, third.length - second.length]).toEqual([3, 2, 2]);
      expect([second.slice(0, first.length), third.slice(0, second.length)]).toEqual([first, second]);
      expect(JSON.stringify(sent[1]).includes(long)).toBe(true);
      expect(JSON.stringify(sent[2])).toContain("And again?");
      await driver.close();
      expect(bench.exec.live).toBe(0);
    } finally {
      await server.close();
      await bench.dispose();
    }
  });

  it("of 100 turns, at least 95 of 100 input tokens are read from the cache", async () => {
    const server = await startModelServer({
      script: ({ assistantTurns: n }) => toolUse({ name: "mcp__crux__view", input: { path: `${n}.txt` } }),
      promptCache: { minTokens: 512 },
    });
    const bench = await openBench();
    try {
      const driver = bench.driver(server);
      const system = [{ text: "Do what was asked, all of it. ".repeat(80), zone: "static" as const }];
      const request = contractRequest({ system });
      const messages = [...request.messages];
      for (let n = 0; n < TURNS; n++) {
        const { blocks } = await fold(driver.stream({ ...request, messages: [...messages] }, none));
        const calls = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
        messages.push({ role: "assistant", content: blocks });
        const content = `line ${n}\n`.repeat(5);
        messages.push({
          role: "user",
          content: calls.map((id) => ({ type: "tool_result", tool_use_id: id, content })),
        });
      }
      expect([server.requestCount, bench.exec.live]).toEqual([TURNS, 1]);
      const used = server.requests.map(({ cache }) => cache ?? { read: 0, write: 0, input: 0 });
      const read = used.reduce((sum, each) => sum + each.read, 0);
      const whole = used.reduce((sum, each) => sum + each.read + each.write + each.input, 0);
      expect(read / whole).toBeGreaterThan(0.95);
      expect(used.slice(1).every((each) => each.read > 0)).toBe(true);
      await driver.close();
    } finally {
      await server.close();
      await bench.dispose();
    }
  }, 240_000);
});

const TURNS = 100;

function whyNot(): string | undefined {
  if (program === "") return "CRUX_TEST_CLAUDE does not name the claude program";
  try {
    accessSync(program, constants.X_OK);
    return undefined;
  } catch {
    return `CRUX_TEST_CLAUDE: ${program} cannot be run`;
  }
}
