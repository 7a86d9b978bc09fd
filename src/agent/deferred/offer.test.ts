import { describe, expect, test } from "vitest";
import { Fault } from "../../abi/errors.ts";
import { asFd, type Fd } from "../../abi/ids.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { FakeProcess } from "../testing/fake-process.ts";
import { agentInfo, call, says } from "../testing/replies.ts";
import { runCalls } from "../tools/testing.ts";
import { offeredTools } from "../tools/tools.ts";
import { announcement, deltaNote } from "./announce.ts";
import { Discovery } from "./discovery.ts";
import { deferredSetting } from "./setting.ts";

interface Served {
  readonly description?: string;
  readonly annotations?: { readonly readOnlyHint: boolean };
}
interface Server {
  readonly state?: "connected" | "pending";
  readonly tools: Readonly<Record<string, Served>>;
}

const PROGRAMS = ["ask_user", "bash", "edit", "glob", "grep", "ls", "multi_edit", "send", "view", "write"];

/** A process that sees these servers, mounted by the user; files are read as the tree has them. */
function world(servers: Record<string, Server> = {}, manifest?: Parameters<typeof agentInfo>[0]) {
  const tools = Object.fromEntries(PROGRAMS.map((name) => [name, says(`${name} ran`, name === "ls")]));
  const fake = new FakeProcess({
    answers: [],
    tools,
    agent: manifest === undefined ? null : agentInfo(manifest),
  });
  const texts = new Map<Fd, Uint8Array>();
  const opened: string[] = [];
  let next = 100;
  const { sys: own } = fake;
  const textOf = (path: string): unknown => {
    if (path === "/bin") return PROGRAMS;
    if (path === "/proc/self/servers")
      return Object.entries(servers).map(([name, { state = "connected" }]) => ({
        name,
        path: `/mnt/mcp/${name}`,
        state,
      }));
    const name = /^\/mnt\/mcp\/([^/]+)\/tools$/.exec(path)?.[1];
    const server = name === undefined ? undefined : servers[name];
    if (name !== undefined && server === undefined) throw new Fault({ code: "NOT_FOUND", message: "gone" });
    return server && Object.entries(server.tools).map(([tool, more]) => ({ name: tool, ...more }));
  };
  const start: ProgramStart = { ...fake.start, toolset: 2 };
  const sys: Sys = {
    ...own,
    open: async (path, flags, signal) => {
      const text = textOf(path);
      opened.push(path);
      if (text === undefined && !path.startsWith("/mnt/")) return own.open(path, flags, signal);
      const fd = asFd(next++);
      texts.set(fd, new TextEncoder().encode(JSON.stringify(text ?? "")));
      return fd;
    },
    write: async (fd, bytes, signal) => {
      if (!texts.has(fd)) return own.write(fd, bytes, signal);
      texts.set(
        fd,
        new TextEncoder().encode(JSON.stringify({ content: [{ type: "text", text: "served" }] })),
      );
    },
    read: async (fd, length, signal) => {
      const text = texts.get(fd);
      if (text === undefined) return own.read(fd, length, signal);
      texts.set(fd, text.subarray(length));
      return text.subarray(0, length);
    },
    close: async (fd) => (texts.delete(fd) ? undefined : own.close(fd)),
  };
  return { sys, start, opened, trace: fake.trace, logs: fake.logs };
}

const slack: Server = { tools: { send: { description: "Sends a message to a Slack channel." }, list: {} } };
const many = (count: number): Server => ({
  tools: Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, {}])),
});

describe("offeredTools() where tools can be looked for", () => {
  test("sends the core and the two tools of the loop, and knows the rest by name", async () => {
    const { sys, start } = world({ slack });
    const { specs, deferred } = await offeredTools(sys, start);
    expect(specs.map(({ name }) => name)).toEqual([
      "ask_user",
      "bash",
      "edit",
      "glob",
      "grep",
      "ls",
      "view",
      "write",
      "tool_search",
      "tool_call",
    ]);
    expect(deferred?.names()).toEqual(["mcp__slack__list", "mcp__slack__send", "multi_edit", "send"]);
  });

  test.each([
    [{ tools: ["view", "bash"] }, ["bash", "view"], undefined],
    [{ tools: ["bash"], memory: "user" as const }, ["bash", "edit", "view", "write"], undefined],
    [
      { disallowedTools: ["bash", "send", "mcp__slack"] },
      ["ask_user", "edit", "glob", "grep", "ls", "view", "write", "tool_search", "tool_call"],
      ["multi_edit"],
    ],
  ])("heeds the agent file %j", async (manifest, sent, others) => {
    const { sys, start } = world({ slack }, manifest);
    const { specs, deferred } = await offeredTools(sys, start);
    expect([specs.map(({ name }) => name), deferred?.names()]).toEqual([sent, others]);
  });

  test.each([
    ["false", true],
    ["true", false],
    ["auto", true],
    ["auto:0", false],
  ])("CRUX_TOOL_SEARCH=%s: all inline %s", async (value, isInline) => {
    const { sys, start } = world({ slack });
    const { specs, deferred } = await offeredTools(sys, start, deferredSetting({ CRUX_TOOL_SEARCH: value }));
    expect([specs.some(({ name }) => name === "mcp__slack__send"), deferred === undefined]).toEqual([
      isInline,
      isInline,
    ]);
  });

  test("starts no server: one that is not connected is named, and asked when it is searched", async () => {
    const { sys, start, opened } = world({ slack: { ...slack, state: "pending" } });
    const tools = await offeredTools(sys, start);
    expect(tools.deferred?.names()).toEqual(["mcp__slack", "multi_edit", "send"]);
    expect(opened).not.toContain("/mnt/mcp/slack/tools");
    const [found] = await runCalls(sys, tools, [call("tool_search", { query: "slack channel" })]);
    expect(found?.content).toContain("mcp__slack__send: Sends a message");
    expect(tools.deferred?.names()).toContain("mcp__slack__list");
    const [called] = await runCalls(sys, tools, [call("tool_call", { tool: "mcp__slack" })]);
    expect(called?.content).toBe(
      "Error [INVALID]: mcp__slack is an MCP server: call one of its tools\ntool_search mcp__slack lists them.",
    );
  });

  test("tells of no server that the agent file keeps from it, neither at first nor later", async () => {
    const pending: Server = { ...slack, state: "pending" };
    const { sys, start } = world({ slack: pending, mail: pending }, { disallowedTools: ["mcp__slack"] });
    const tools = await offeredTools(sys, start);
    expect(tools.deferred?.names()).toEqual(["mcp__mail", "multi_edit", "send"]);
    await tools.deferred?.refresh(sys);
    expect(tools.deferred?.names()).toEqual(["mcp__mail", "multi_edit", "send"]);
  });
});

describe("runCalls() of what is deferred", () => {
  const run = async (name: string, input: unknown) => {
    const { sys, start, opened } = world({ slack });
    const [result] = await runCalls(sys, await offeredTools(sys, start), [call(name, input)]);
    return { result, opened };
  };

  test.each([
    ["tool_call", { tool: "mcp__slack__send", params: { to: "x" } }, "served", "/mnt/mcp/slack/tools/send"],
    ["tool_call", { tool: "/mnt/mcp/slack/tools/send", params: {} }, "served", "/mnt/mcp/slack/tools/send"],
    ["tool_call", { tool: "MultiEdit", params: {} }, "multi_edit ran", "/bin/multi_edit"],
    ["tool_call", { tool: "view", params: {} }, "view ran", "/bin/view"],
    ["multi_edit", {}, "multi_edit ran", "/bin/multi_edit"],
  ])("%s %j is a call of that tool itself", async (name, input, content, path) => {
    const { result, opened } = await run(name, input);
    expect(result).toEqual({ content, isError: false });
    expect(opened.at(-1)).toBe(path);
  });

  test.each([
    ["tool_call", { tool: "tool_call", params: {} }, "INVALID", "tool_call cannot be called by it"],
    ["tool_call", { tool: "ToolSearch", params: {} }, "INVALID", "tool_search cannot be called by it"],
    ["tool_call", { params: {} }, "INVALID", "tool is required"],
    ["tool_call", { tool: "send", params: 1 }, "INVALID", "params must be an object"],
    ["tool_call", { tool: "send", args: {} }, "INVALID", 'unknown key "args"'],
    ["tool_call", { tool: "nothing", params: {} }, "NOT_FOUND", "tool not found: nothing"],
    ["tool_search", { query: "view" }, "INVALID", "already loaded"],
    ["tool_search", { query: "x", limit: 21 }, "INVALID", "limit must be 1 to 20"],
    ["tool_search", {}, "INVALID", "query is required"],
  ])("%s %j fails with %s", async (name, input, code, text) => {
    const { result } = await run(name, input);
    expect(result?.isError).toBe(true);
    expect(result?.content).toContain(`[${code}]`);
    expect(result?.content).toContain(text);
  });
});

describe("what a model is told", () => {
  test("announcement() counts by server where there are too many names", () => {
    expect(announcement([])).toBe("");
    expect(announcement(["a", "b"])).toBe("<available-deferred-tools>\na\nb\n</available-deferred-tools>");
    const names = [...Array.from({ length: 300 }, (_, i) => `mcp__big__t${i}`), "send"];
    expect(announcement(names)).toBe(
      "<available-deferred-tools>\nmcp__big (300 tools)\nsend\n</available-deferred-tools>",
    );
  });

  test("refresh() tells only what came and went", async () => {
    const servers: Record<string, Server> = { slack };
    const { sys, start } = world(servers);
    const { deferred } = await offeredTools(sys, start);
    expect(await deferred?.refresh(sys)).toEqual({ added: [], removed: [] });
    servers.other = { tools: { one: {} } };
    delete servers.slack;
    const delta = await deferred?.refresh(sys);
    expect(delta).toEqual({ added: ["mcp__other__one"], removed: ["mcp__slack__list", "mcp__slack__send"] });
    expect(deltaNote(delta ?? { added: [], removed: [] })).toContain(
      "added: mcp__other__one\nremoved: mcp__slack__list",
    );
    expect(await deferred?.find(sys, "mcp__slack__send")).toBeUndefined();
  });

  test("Discovery points at a tool once, also after a restart", async () => {
    const { sys, start } = world({ slack });
    const { deferred } = await offeredTools(sys, start);
    if (deferred === undefined) throw new Error("nothing is deferred");
    const discovery = new Discovery();
    const note = discovery.note(deferred, "Please send a message to the slack channel");
    expect(note).toContain("mcp__slack__send: Sends a message to a Slack channel.");
    expect(discovery.note(deferred, "Please send a message to the slack channel")).toBe("");
    expect(discovery.note(deferred, "Fix the failing parser test")).toBe("");
    const later = new Discovery();
    later.recall([{ role: "user", content: note }]);
    expect(later.note(deferred, "Please send a message to the slack channel")).toBe("");
  });

  test("Discovery keeps 400 names of more than 500", () => {
    const discovery = new Discovery();
    const names = Array.from({ length: 501 }, (_, i) => `t${i}: x`).join("\n");
    discovery.recall([{ role: "user", content: `<tool_discovery>\n${names}` }]);
    expect([discovery.told.size, discovery.told.has("t500"), discovery.told.has("t100")]).toEqual([
      400,
      true,
      false,
    ]);
  });

  test("find() answers for 300 tools of a server", async () => {
    const { sys, start } = world({ big: many(300) });
    const { deferred } = await offeredTools(sys, start);
    expect((await deferred?.find(sys, "mcp__big__t299"))?.path).toBe("/mnt/mcp/big/tools/t299");
  });
});
