import { describe, expect, test } from "vitest";
import { Fault } from "../../abi/errors.ts";
import { asFd, type Fd } from "../../abi/ids.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { FakeProcess } from "../testing/fake-process.ts";
import { agentInfo, call, says } from "../testing/replies.ts";
import { runCalls } from "../tools/testing.ts";
import { offeredTools } from "../tools/tools.ts";
import { callMounted } from "./mounted-call.ts";
import { MAX_MOUNTED_TOOLS } from "./mounted-tools.ts";

interface Server {
  readonly tools?: Readonly<Record<string, { result?: unknown; readOnly?: boolean; error?: Fault }>>;
  readonly error?: Fault;
}

/** A process whose servers are these, mounted as an agent file names them. */
function world(servers: Readonly<Record<string, Server>>, manifest: Parameters<typeof agentInfo>[0] = {}) {
  const agent = agentInfo(manifest);
  const fake = new FakeProcess({ answers: [], tools: { view: says("a view") }, agent });
  const files = new Map<Fd, { path: string; unread: Uint8Array }>();
  const kept = new Map<string, Uint8Array>();
  const written: unknown[] = [];
  let next = 20;
  const find = (path: string) => {
    const [, , , mount = "", list, tool] = path.split("/");
    const server = servers[mount.replace(/^1-/, "")];
    if (server?.error !== undefined) throw server.error;
    const name = decodeURIComponent(tool ?? "");
    return { server, list, name, tool: server?.tools?.[name] };
  };
  const { sys: own } = fake;
  const start: ProgramStart = {
    ...fake.start,
    mounts: Object.keys(servers).map((name) => ({ name, path: `/mnt/mcp/1-${name}` })),
  };
  const sys: Sys = {
    ...own,
    stat: async (path) => {
      if (!path.startsWith("/mnt/")) return own.stat(path);
      const { name, tool } = find(path);
      const face = { name: `mcp__${path.split("-")[1]?.split("/")[0]}__${name}`, description: `${name}.` };
      const schema = {
        inputSchema: { type: "object" },
        parallel: tool?.readOnly === true,
        maxResultChars: 1,
      };
      return { name, size: 0, isDevice: true, devicePath: "", tool: { ...face, ...schema } };
    },
    open: async (path, flags, signal) => {
      if (!path.startsWith("/mnt/") && !path.startsWith("/var/out/")) return own.open(path, flags, signal);
      const fd = asFd(next++);
      const { server } = path.startsWith("/mnt/") ? find(path) : { server: undefined };
      const list = Object.keys(server?.tools ?? {}).map((name) => ({ name }));
      files.set(fd, { path, unread: new TextEncoder().encode(JSON.stringify(list)) });
      return fd;
    },
    write: async (fd, bytes, signal) => {
      const file = files.get(fd);
      if (file === undefined) return own.write(fd, bytes, signal);
      if (file.path.startsWith("/var/out/")) return void kept.set(file.path, bytes);
      const { tool } = find(file.path);
      written.push(JSON.parse(new TextDecoder().decode(bytes)));
      if (tool?.error !== undefined) throw tool.error;
      file.unread = new TextEncoder().encode(JSON.stringify(tool?.result));
    },
    read: async (fd, length, signal) => {
      const file = files.get(fd);
      if (file === undefined) return own.read(fd, length, signal);
      const part = file.unread.subarray(0, length);
      file.unread = file.unread.subarray(length);
      return part;
    },
    close: async (fd) => (files.delete(fd) ? undefined : own.close(fd)),
  };
  return { sys, start, files, kept, written, logs: fake.logs };
}

const FEED = { name: "mcp__zoo__feed", path: "/mnt/mcp/1-zoo/tools/feed" };
const text = (...texts: string[]) => ({ content: texts.map((each) => ({ type: "text", text: each })) });

describe("offeredTools() with servers", () => {
  const two = { zoo: { tools: { feed: {}, count: { readOnly: true } } }, ark: { tools: { "a/b": {} } } };

  test("offers theirs after the programs, in the order of the agent file, then by name", async () => {
    const { sys, start } = world(two, { tools: ["view"] });
    const { specs, parallel, files } = await offeredTools(sys, start);
    expect(specs.map(({ name }) => name)).toEqual([
      "view",
      "mcp__zoo__count",
      "mcp__zoo__feed",
      "mcp__ark__a/b",
    ]);
    expect([parallel.get("mcp__zoo__count"), parallel.get("mcp__zoo__feed")]).toEqual([true, false]);
    expect(files?.get("mcp__ark__a/b")).toBe("/mnt/mcp/1-ark/tools/a%2Fb");
    expect(files?.has("view")).toBe(false);
  });

  test.each([
    ["a list that names none of theirs", { tools: [] }, ["count", "feed"]],
    ["a list with one", { tools: ["mcp__zoo__feed"] }, ["feed"]],
    ["a list with a server", { tools: ["mcp__zoo__*", "view"] }, ["count", "feed"]],
    ["a list with another server", { tools: ["mcp__ark"] }, []],
    ["one that is taken away", { disallowedTools: ["mcp__zoo__feed"] }, ["count"]],
    ["a server that is taken away", { disallowedTools: ["mcp__zoo"] }, []],
  ])("%s", async (_what, manifest, expected) => {
    const { sys, start, logs } = world({ zoo: two.zoo }, manifest);
    const { files } = await offeredTools(sys, start);
    expect([...(files?.keys() ?? [])]).toEqual(expected.map((name) => `mcp__zoo__${name}`));
    expect(logs).toEqual([]);
  });

  test("are bounded, and a server that does not answer is left out, with a word", async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`t${i}`, {}]));
    const error = new Fault({ code: "UNAVAILABLE", message: "it is gone" });
    const { sys, start, logs } = world({ gone: { error }, many: { tools: many } });
    const { files } = await offeredTools(sys, start);
    expect(files?.size).toBe(MAX_MOUNTED_TOOLS);
    expect(logs).toEqual([
      "MCP server gone: its tools are not offered: it is gone",
      "200 tools of MCP servers: the first 128 are offered",
    ]);
  });
});

describe("a call of such a tool", () => {
  test("goes to its file, among others", async () => {
    const w = world({ zoo: { tools: { feed: { result: text("fed", "well") } } } });
    const tools = await offeredTools(w.sys, w.start);
    const calls = [call("mcp__zoo__feed", { who: "Ada" }), call("view"), call("mcp__zoo__fed")];
    const results = await runCalls(w.sys, tools, calls);
    expect(w.written).toEqual([{ who: "Ada" }]);
    expect(results).toMatchObject([
      { content: "fed\nwell", isError: false },
      { content: "a view", isError: false },
      { content: expect.stringContaining("tool not found: mcp__zoo__fed") as string, isError: true },
    ]);
    expect(w.files.size).toBe(0);
  });

  const png = Buffer.from("not really a picture").toString("base64");
  test.each<[string, unknown, { content: string | RegExp; isError?: boolean }]>([
    ["its failure", { ...text("no room"), isError: true }, { content: "no room", isError: true }],
    [
      "a failure without a word",
      { content: [], isError: true },
      { content: "the tool failed without a word", isError: true },
    ],
    ["nothing", { content: [] }, { content: "(no output)" }],
    ["typed data alone", { content: [], structuredContent: { a: 1 } }, { content: '{"a":1}' }],
    ["typed data beside text", { ...text("one"), structuredContent: { a: 1 } }, { content: "one" }],
    [
      "a picture",
      {
        content: [
          { type: "image", data: png, mimeType: "image/png" },
          { type: "text", text: "done" },
        ],
      },
      { content: /^\[image, image\/png, 20 bytes: \/var\/out\/mcp-\w+-20-1\.png\]\ndone$/ },
    ],
    [
      "resources",
      {
        content: [
          { type: "resource_link", uri: "file:///a", name: "a" },
          { type: "resource", resource: { uri: "file:///b", text: "milk" } },
          { type: "resource", resource: { uri: "file:///c", blob: png } },
        ],
      },
      {
        content:
          /^\[resource file:\/\/\/a \(a\)\]\n\[resource file:\/\/\/b\]\nmilk\n\[resource file:\/\/\/c, application\/octet-stream, 20 bytes: .*\.bin\]$/,
      },
    ],
    [
      "what is not known",
      { content: [{ type: "dance" }] },
      { content: '[content of a kind that is not known: {"type":"dance"}]' },
    ],
    ["what is no result", null, { content: "Error [DRIVER]: mcp__zoo__feed gave no result", isError: true }],
  ])("gives the model %s", async (_what, result, { content, isError = false }) => {
    const { sys, files } = world({ zoo: { tools: { feed: { result } } } });
    const given = await callMounted(sys, FEED, {});
    if (typeof content === "string") expect(given.content).toBe(content);
    else expect(given.content).toMatch(content);
    expect([given.isError, files.size]).toEqual([isError, 0]);
  });

  test("keeps a long text whole and shows how it begins", async () => {
    const long = "é".repeat(100_001);
    const { sys, kept } = world({ zoo: { tools: { feed: { result: text(long) } } } });
    const { content } = await callMounted(sys, FEED, {});
    const [path] = kept.keys();
    expect(content).toBe(
      `${long.slice(0, 8_000)}\n[truncated: 8000 of 100001 characters. All of it: view ${path}, or grep it]`,
    );
    expect(new TextDecoder().decode(kept.get(path!))).toBe(long);
  });

  test("that fails on its way is a result that says so", async () => {
    const error = new Fault({
      code: "DRIVER",
      message: "feed: the server ended during the call: its outcome is unknown",
    });
    const { sys } = world({ zoo: { tools: { feed: { error } } } });
    expect(await callMounted(sys, FEED, {})).toEqual({
      content: "Error [DRIVER]: feed: the server ended during the call: its outcome is unknown",
      isError: true,
    });
  });
});
