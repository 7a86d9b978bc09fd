/** The files of 9.1 against published servers: over pipes, and over HTTP on loopback. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Device, O_RDWR } from "../../abi/device.ts";
import type { McpConfig } from "../../abi/mcp.ts";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { askJson, callerIn, openAndRead, tempFolder, until } from "../testing.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { PooledTransport } from "./pooled-transport.ts";
import { type Rig, rig } from "./testing/rig.ts";

const PROGRAMS = {
  everything: new URL(
    "../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js",
    import.meta.url,
  ),
  filesystem: new URL(
    "../../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
    import.meta.url,
  ),
  memory: new URL("../../../node_modules/@modelcontextprotocol/server-memory/dist/index.js", import.meta.url),
};
const stdio = (
  name: keyof typeof PROGRAMS,
  args: string[] = [],
  env: Record<string, string> = {},
): McpConfig => ({
  type: "stdio",
  command: process.execPath,
  args: [fileURLToPath(PROGRAMS[name]), ...args],
  env,
});
const caller = callerIn("/tmp");
const never = new AbortController().signal;

interface Result {
  content: { type: string; text?: string; data?: string }[];
  structuredContent?: unknown;
  isError?: boolean;
}

async function mounted(
  config: McpConfig,
  r: Rig = rig(systemClock),
): Promise<{ device: Device; transport: PooledTransport; r: Rig }> {
  const transport = await r.connected(config);
  return { device: r.host.device("s", transport), transport, r };
}

const call = (device: Device, tool: string, args: unknown = {}): Promise<Result> =>
  askJson<Result>(device, `/tools/${tool}`, args, caller);
const list = async <T>(device: Device, path: string): Promise<T> =>
  JSON.parse(await openAndRead(device, path, caller)) as T;
const namesOf = async (device: Device): Promise<string[]> =>
  (await list<{ name: string }[]>(device, "/tools")).map(({ name }) => name);

/** Ends what it started, and looks that nothing of it is left. */
async function ends(r: Rig): Promise<void> {
  await r.host.close();
  await until(() => r.osProcesses().length === 0, "nothing is left");
  expect([r.exec.live, r.services.running.size]).toEqual([0, 0]);
}

async function everything(device: Device): Promise<void> {
  expect(await list(device, "")).toEqual(["tools", "resources"]);
  expect(await namesOf(device)).toEqual(expect.arrayContaining(["echo", "get-sum", "get-tiny-image"]));
  expect((await call(device, "echo", { message: "hello" })).content).toEqual([
    { type: "text", text: "Echo: hello" },
  ]);
  expect((await call(device, "get-sum", { a: 2, b: 3 })).content[0]?.text).toContain("5");
  expect((await call(device, "get-tiny-image")).content.some(({ type }) => type === "image")).toBe(true);
  expect(await call(device, "get-structured-content", { location: "Chicago" })).toMatchObject({
    structuredContent: { temperature: expect.any(Number) as number },
  });
  const resources = await list<{ uri: string }[]>(device, "/resources");
  expect(resources.length).toBeGreaterThan(0);
  const uri = encodeURIComponent(resources[0]!.uri);
  expect((await openAndRead(device, `/resources/${uri}`, caller)).length).toBeGreaterThan(0);
  await expect(device.open("/tools/ech", O_RDWR, caller)).rejects.toThrow(/Similar: echo/);
  await expect(call(device, "get-sum", { a: "2", b: 3 })).rejects.toMatchObject({ code: "INVALID" });
}

describe("server-everything", () => {
  test("over pipes", async () => {
    const { device, r } = await mounted(stdio("everything", ["stdio"]));
    await everything(device);
    await ends(r);
  });

  test("over pipes: a call with progress outlives the quiet time", async () => {
    const { device, transport, r } = await mounted(stdio("everything", ["stdio"]));
    expect(transport.tools).toBeGreaterThan(5);
    const result = await call(device, "trigger-long-running-operation", { duration: 0.2, steps: 2 });
    expect(result.content[0]?.text).toContain("completed");
    await ends(r);
  });

  test("over HTTP", async () => {
    const { url } = await serveHttp();
    const { device, transport, r } = await mounted({ type: "http", url, headers: { "x-test": "1" } });
    expect([transport.servicePid, transport.label, r.exec.live]).toEqual([null, `http: ${url}`, 0]);
    await everything(device);
    await ends(r);
  });

  test("over HTTP: a server that goes makes its mount pending, and it is back when the server is", async () => {
    const clock = new VirtualClock();
    const r = rig(clock);
    const first = await serveHttp();
    const { device, transport } = await mounted({ type: "http", url: first.url, headers: {} }, r);
    await call(device, "echo", { message: "x" });
    await first.stop();
    const failed = await call(device, "echo", { message: "y" }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: expect.stringMatching(/^(UNAVAILABLE|DRIVER)$/) as string });
    await until(() => transport.state === "pending", "it is known to be gone");
    expect(transport.problem).toMatch(/^it is gone: /);
    const second = await serveHttp(first.port);
    expect(second.url).toBe(first.url);
    for (let i = 0; transport.state !== "connected" && i < 2_000; i++) {
      await clock.advance(200);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await call(device, "echo", { message: "back" })).content[0]?.text).toBe("Echo: back");
    await transport.close();
  });

  test("over HTTP: one that was started again and knows no session (400) gets a new one", async () => {
    const clock = new VirtualClock();
    const first = await serveHttp();
    const { device, transport } = await mounted({ type: "http", url: first.url, headers: {} }, rig(clock));
    await first.stop();
    await serveHttp(first.port);
    await expect(call(device, "echo", { message: "x" })).rejects.toThrow(
      /HTTP 400|is not connected yet: it is gone/,
    );
    for (let i = 0; i < 2_000; i++) {
      await clock.advance(200);
      const again = await call(device, "echo", { message: "new" }).catch(() => undefined);
      if (again !== undefined) return expect(again.content[0]?.text).toBe("Echo: new");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`it is not back: ${transport.problem}`);
  });

  test("a URL where nobody is fails at once, in words", async () => {
    const r = rig(systemClock);
    const transport = r.transport({
      type: "http",
      url: `http://127.0.0.1:${await freePort()}/mcp`,
      headers: {},
    });
    await expect(transport.connect(never)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "no answer (ECONNREFUSED)",
    });
  });
});

describe("server-filesystem", () => {
  test("reads and writes below its folder, and only there", async () => {
    const dir = tempFolder();
    writeFileSync(join(dir, "a.txt"), "milk\n");
    const { device, r } = await mounted(stdio("filesystem", [dir]));
    expect(await list(device, "")).toEqual(["tools", "resources"]);
    expect(await list(device, "/resources")).toEqual([]);
    const read = await call(device, "read_text_file", { path: join(dir, "a.txt") });
    expect(read.content[0]?.text).toBe("milk\n");
    await call(device, "write_file", { path: join(dir, "b.txt"), content: "bread\n" });
    expect(readFileSync(join(dir, "b.txt"), "utf8")).toBe("bread\n");
    const outside = await call(device, "read_text_file", { path: "/etc/hosts" });
    expect(outside).toMatchObject({ isError: true });
    expect(outside.content[0]?.text).toContain("Access denied");
    const stat = await device.stat?.("/tools/read_text_file", caller);
    expect(stat?.tool).toMatchObject({ name: "mcp__s__read_text_file", parallel: true });
    expect((await device.stat?.("/tools/write_file", caller))?.tool?.parallel).toBe(false);
    await ends(r);
  });

  test("without its folder ends at once: its own words tell why", async () => {
    const r = rig(systemClock);
    const transport = r.transport(stdio("filesystem", ["/no/such/folder"]));
    await expect(transport.connect(never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(transport.problem).toMatch(/^it exited with code 1; it said: .*\/no\/such\/folder/s);
    await until(() => r.osProcesses().length === 0, "nothing is left");
  });
});

describe("server-memory", () => {
  const memory = (file: string): McpConfig => stdio("memory", [], { MEMORY_FILE_PATH: file });
  const entity = { name: "Ada", entityType: "person", observations: ["counts"] };

  test("is one process for two mounts, which see the same; it goes five minutes after the last", async () => {
    const clock = new VirtualClock();
    const r = rig(clock);
    const config = memory(join(tempFolder(), "memory.json"));
    const [a, b] = [await mounted(config, r), await mounted(config, r)];
    expect(a.transport.servicePid).toBe(b.transport.servicePid);
    expect(r.exec.live).toBe(1);
    await call(a.device, "create_entities", { entities: [entity] });
    expect((await call(b.device, "read_graph")).content[0]?.text).toContain("Ada");
    await a.transport.close();
    await b.transport.close();
    await clock.advance(MCP_LIMITS.idleTtlMs - 1);
    expect(r.exec.live).toBe(1);
    await clock.advance(1);
    await until(() => r.osProcesses().length === 0, "it is stopped");
  });

  test("keeps what it was told through a restart", async () => {
    const config = memory(join(tempFolder(), "memory.json"));
    const first = await mounted(config);
    await call(first.device, "create_entities", { entities: [entity] });
    await ends(first.r);
    const second = await mounted(config);
    expect((await call(second.device, "search_nodes", { query: "Ada" })).content[0]?.text).toContain(
      "counts",
    );
    await ends(second.r);
  });

  test("a call that does not fit its schema is INVALID, and not sent", async () => {
    const { device, r } = await mounted(memory(join(tempFolder(), "memory.json")));
    await expect(call(device, "create_entities", { entities: [{ name: "Ada" }] })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringMatching(/entities\[0\]\.entityType is missing; nothing was sent/) as string,
    });
    await ends(r);
  });
});

/** server-everything over HTTP, until the test is over. */
async function serveHttp(wanted?: number): Promise<{ url: string; port: number; stop(): Promise<void> }> {
  const port = wanted ?? (await freePort());
  const child = spawn(process.execPath, [fileURLToPath(PROGRAMS.everything), "streamableHttp"], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stop = () => ended(child);
  onTestFinished(stop);
  await new Promise<void>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes(String(port))) resolve();
    });
    child.once("exit", () => reject(new Error("the server ended")));
  });
  return { url: `http://127.0.0.1:${port}/mcp`, port, stop };
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL");
  });
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
