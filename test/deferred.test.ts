/** Tools that are not sent with every request, through the booted system: found by tool_search, called by tool_call. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { escapeVariables } from "../src/abi/compose/variables.ts";
import { DIALECTS, modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";
import { type Reply, type ToolCall, text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server/server.ts";

const EVERYTHING = fileURLToPath(
  new URL("../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);
const ECHO = "mcp__everything__echo";

let world: World;
let server: ModelServer;

beforeTries(
  async () => {
    world = new World();
    agent("tester", [
      "mcp:",
      "  - name: everything",
      `    command: ${JSON.stringify(escapeVariables(process.execPath))}`,
      `    args: [${JSON.stringify(escapeVariables(EVERYTHING))}]`,
    ]);
    await world.crux(["ps"]);
  },
  () => world.close(),
);
afterEach(() => server?.close());

const allOf = (calls: readonly ToolCall[]): Reply => {
  const [first, ...rest] = calls.map((call) => toolUse(call));
  return first!.and(...rest);
};

function agent(name: string, lines: readonly string[]): void {
  const dir = join(world.dir, "config/crux/agents", name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "agent.yaml"), [`name: ${name}`, ...lines, ""].join("\n"));
  writeFileSync(join(dir, "instructions.md"), "Do as you are told.\n");
}

const serve = async (script: ModelServerOptions["script"]) => {
  server = await startModelServer({ script });
};
const run = (...args: string[]) => world.crux(["-q", ...args, "do it"], { env: modelEnv(server) });
const results = (at: number) => server.requests[at]!.lastToolResults;
const sizes = () => server.requests.map(({ rawBody }) => rawBody.match(/"tools":.*?\}\]/)?.[0]);

/** Resolves when its tools are there: a busy machine answers before the server does. */
async function mount(wire: Wire, path: string): Promise<void> {
  const config = { type: "stdio", command: process.execPath, args: [EVERYTHING], env: {} };
  await wire.ask("mcp.mount", { path, config });
  const all = async () => JSON.stringify((await wire.ask("mcp.list"))?.payload);
  expect(await settled(all, (mounts) => mounts.includes('"connected"'))).toContain('"connected"');
}

describe("a model", () => {
  it("finds a tool of a server, calls it by tool_call, and is sent the same tools in every request", async () => {
    await serve([
      toolUse({ name: "tool_search", input: { query: "echo message" } }),
      toolUse({ name: "tool_call", input: { tool: ECHO, params: { message: "hello" } } }),
      text("Done."),
    ]);
    const { code, stdout } = await run("--agent", "tester", "--permission-mode", "bypass");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Done.\n" });
    expect(results(1)[0]!.content).toContain(`${ECHO}: `);
    expect(results(1)[0]!.content).toContain('"message":{"type":"string"');
    expect(results(2)[0]!.content).toBe("Echo: hello");
    expect(server.requests[0]!.tools).not.toContain(ECHO);
    expect(server.requests[0]!.rawBody).toContain("<available-deferred-tools>");
    expect(new Set(sizes()).size).toBe(1);
    expect([server.rejected, server.unexpected]).toEqual([[], []]);
  });

  it("is asked about the tool that tool_call names, by its own name", async () => {
    await serve([
      toolUse({ name: "tool_call", input: { tool: ECHO, params: { message: "hello" } } }),
      text("Refused."),
    ]);
    await run("--agent", "tester");
    expect(results(1)[0]!.content).toMatch(/^Error \[PERMISSION\]: /);
    expect(results(1)[0]!.content).toContain(`allowed by the rule ${ECHO}`);
  });

  it("finds what the user mounts", async () => {
    await using wire = await Wire.open(world.socket);
    await mount(wire, "/mnt/mcp/all");
    await serve([
      toolUse({ name: "tool_search", input: { query: "select:mcp__all__echo" } }),
      toolUse({ name: "tool_call", input: { tool: "mcp__all__echo", params: { message: "hi" } } }),
      text("Done."),
    ]);
    await run("--permission-mode", "bypass");
    expect(results(2)[0]!.content).toBe("Echo: hi");
    await wire.ask("mcp.unmount", { path: "/mnt/mcp/all" });
  });

  it.each([
    ["alone", {}],
    ["with tasks instead of todo", { CRUX_ENABLE_TASKS: "1" }],
  ])("finds and calls every tool that it is told of (%s)", async (_, more) => {
    await using wire = await Wire.open(world.socket);
    await mount(wire, "/mnt/mcp/some");
    // one of the server works for `duration` seconds
    const wrong = { no_such_argument: 1, duration: "none" };
    let sent: readonly string[] = [];
    let told: readonly string[] = [];
    await serve([
      (request) => {
        sent = request.tools.filter((name) => name !== "tool_search" && name !== "tool_call");
        told = /<available-deferred-tools>\n([^<]*)\n</.exec(request.system)?.[1]?.split("\n") ?? [];
        return allOf(told.map((name) => ({ name: "tool_search", input: { query: `select:${name}` } })));
      },
      () =>
        allOf([
          ...told.map((name) => ({ name: "tool_call", input: { tool: name, params: wrong } })),
          ...sent.map((name) => ({ name, input: wrong })),
        ]),
      text("Done."),
    ]);
    const env = { ...modelEnv(server), ...more };
    await world.crux(["-q", "--permission-mode", "bypass", "do it"], { env });
    expect(sent).toContain("bash");
    expect(told).toContain("multi_edit");
    expect(told).toContain("mcp__some__echo");
    expect(told).toContain("task_list");
    expect(sent.includes("todo")).toBe(!("CRUX_ENABLE_TASKS" in more));
    const found = results(1);
    expect(found.map(({ content }) => content.split("\n\n")[1]?.split(": ")[0])).toEqual(told);
    const called = results(2);
    expect(called).toHaveLength(told.length + sent.length);
    for (const { content } of called) expect(content).not.toMatch(/not found|switched off/);
    await wire.ask("mcp.unmount", { path: "/mnt/mcp/some" });
  });

  const ALL = [...DIALECTS, "responses", "gemini", "ollama"] as const;
  it.each(ALL)("is sent at most 9,000 bytes at first, system prompt included (%s)", async (dialect) => {
    await serve([text("Done.")]);
    const { code } = await world.crux(["-q", "do it"], { env: modelEnv(server, dialect) });
    expect(code).toBe(0);
    const [first] = server.requests;
    const list =
      /Skills, each with instructions[\s\S]*?(?=<\/system-reminder>)/.exec(first!.rawBody)?.[0] ?? "";
    // the list of skills and the memory count beside it
    expect(Buffer.byteLength(first!.rawBody) - Buffer.byteLength(list)).toBeLessThanOrEqual(9_000);
    expect(server.requests[0]!.tools).toContain("tool_search");
  });
});
