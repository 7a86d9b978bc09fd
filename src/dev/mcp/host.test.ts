import { describe, expect, test } from "vitest";
import type { McpConfig } from "../../abi/mcp.ts";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { until } from "../testing.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { PooledTransport } from "./pooled-transport.ts";
import { type Rig, rig, scripted } from "./testing/rig.ts";

const never = new AbortController().signal;

async function callOf(transport: PooledTransport, name: string, args: Record<string, unknown> = {}) {
  const { tools } = await transport.catalogue("Open", never);
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return transport.callTool(tool, args, never);
}

async function textOf(transport: PooledTransport, name: string, args: Record<string, unknown> = {}) {
  const { content } = (await callOf(transport, name, args)) as { content: { text: string }[] };
  return content[0]!.text;
}

/** Time goes on until it has happened. */
async function inTime(
  clock: VirtualClock,
  stepMs: number,
  holds: () => boolean,
  what: string,
): Promise<void> {
  for (let step = 0; !holds(); step++) {
    if (step > 6_000) throw new Error(`did not happen: ${what}`);
    await clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const nothingLeft = (r: Rig) =>
  until(() => r.services.running.size === 0 && r.osProcesses().length === 0, "all services have ended");

describe("a local server", () => {
  test("is started at connect(), as a service, and tells what it has", async () => {
    const r = rig(systemClock);
    const transport = r.transport();
    expect([transport.state, transport.servicePid, r.exec.live]).toEqual(["pending", null, 0]);
    await transport.connect(never);
    expect([transport.state, transport.problem, r.exec.live]).toEqual(["connected", "", 1]);
    expect(transport.servicePid).toBe([...r.services.running.keys()][0]);
    expect(transport.tools).toBe(15);
    expect(transport.label).toMatch(/^stdio: .*scripted-server\.ts$/);
    await transport.ping(never);
    expect(await textOf(transport, "echo", { text: "hello" })).toBe("hello");
  });

  test("gets the environment it needs, its entry's, and no key of ours", async () => {
    const r = rig(systemClock);
    const config: McpConfig = { ...scripted(), env: { TOKEN: "own" } } as McpConfig;
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: "/tmp",
      LC_ALL: "C",
      XDG_CONFIG_HOME: "/tmp/x",
      ANTHROPIC_API_KEY: "hidden",
      NODE_OPTIONS: "",
      LD_LIBRARY_PATH: "hidden",
    };
    const transport = await r.connected(config, r.owner({ env }));
    const seen = JSON.parse(await textOf(transport, "env")) as Record<string, string>;
    for (const mark of ["CRUX_OWNER", "CRUX_EXEC_ID", "PWD", "OLDPWD", "SHLVL", "_"]) delete seen[mark];
    const { ANTHROPIC_API_KEY, NODE_OPTIONS, LD_LIBRARY_PATH, ...kept } = env;
    expect(seen).toEqual({ ...kept, TOKEN: "own" });
  });

  test.each<[string, McpConfig, RegExp]>([
    [
      "is not there",
      { type: "stdio", command: "no-such-server", args: [], env: {} },
      /^program not found: no-such-server$/,
    ],
    ["ends at once", scripted("--dead"), /^it exited with code 4; it said: cannot find its database$/],
    [
      "works in no folder",
      { ...scripted(), cwd: "/no/such/folder" } as McpConfig,
      /^working directory not found: /,
    ],
  ])("that %s fails at once, in words, and leaves nothing", async (_how, config, words) => {
    const r = rig(systemClock);
    const transport = r.transport(config);
    await expect(transport.connect(never)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(words) as string,
    });
    expect([transport.state, transport.servicePid]).toEqual(["failed", null]);
    expect(transport.problem).toMatch(words);
    await nothingLeft(r);
  });

  test.each(["--mute", "--mute-list"])("that never answers (%s) has failed after 30 s", async (flag) => {
    const clock = new VirtualClock();
    const r = rig(clock);
    const transport = r.transport(scripted(flag));
    const outcome = transport.connect(never).catch((error: unknown) => error);
    await until(() => r.exec.live === 1, "the program runs");
    await clock.advance(MCP_LIMITS.connectMs - 1);
    expect(transport.state).toBe("pending");
    await clock.advance(1);
    expect(await outcome).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("within 30 s"),
    });
    await inTime(clock, 100, () => transport.state === "failed", "it has failed");
    expect(transport.problem).toBe("it did not answer within 30 s");
    await nothingLeft(r);
  });

  test("that ends when it is asked for the newer protocol is started once more, without the question", async () => {
    const r = rig(systemClock);
    const transport = await r.connected(scripted("--no-probe"));
    expect(transport.state).toBe("connected");
    expect(r.services.ended).toMatchObject([{ code: 9 }]);
  });

  test("that prints nothing else, and without end, is none: it is ended at once, and who mounts it hears why", async () => {
    const r = rig(systemClock);
    const flood: McpConfig = { type: "stdio", command: "yes", args: [], env: {} } as McpConfig;
    await expect(r.transport(flood).connect(never)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: 'what it writes to stdout is not a message: "y"',
    });
    await nothingLeft(r);
  });

  test("that prints garbage is heard all the same, and the garbage is logged", async () => {
    const r = rig(systemClock);
    const transport = await r.connected(scripted("--noisy"));
    expect(await textOf(transport, "garbage")).toBe("clean");
    expect(r.services.logs).toContain("warn: not a message, dropped: this is no message");
    expect(r.services.logs).toContain("warn: not a message, dropped: [1,2]");
    expect(r.services.logs.length).toBeLessThanOrEqual(MCP_LIMITS.logLines + 1);
  });

  test("that ends in the middle of a call: the outcome is unknown, nothing is sent twice, and it is started again", async () => {
    const clock = new VirtualClock();
    const r = rig(clock);
    const transport = await r.connected();
    const first = transport.servicePid;
    await expect(callOf(transport, "die")).rejects.toMatchObject({
      code: "DRIVER",
      message: "die: the server ended during the call: its outcome is unknown",
    });
    await until(() => r.told.length > 0, "its owner is told");
    expect(r.told[0]).toMatch(
      /^warn: MCP server stdio: .*: it exited with code 3; it said: out of memory; starting it again in 1 s$/,
    );
    expect([transport.state, transport.servicePid]).toEqual(["pending", null]);
    expect(() => transport.check("Write")).toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
    await inTime(clock, 100, () => transport.state === "connected", "it is back");
    expect(transport.servicePid).not.toBe(first);
    expect(r.told.at(-1)).toMatch(/^info: .*: connected again$/);
    expect(await textOf(transport, "echo", { text: "back" })).toBe("back");
  });

  test("that ends again and again is given up, and tried again when somebody asks for it later", async () => {
    const clock = new VirtualClock();
    const r = rig(clock);
    const transport = await r.connected();
    // in small steps: what a slow machine waits for must not take the crashes out of their window
    for (let crash = 0; crash <= MCP_LIMITS.restarts; crash++) {
      await inTime(clock, 10, () => transport.state === "connected", `it is back after crash ${crash}`);
      await callOf(transport, "die").catch(() => {});
      await until(() => transport.state !== "connected", "it is gone");
    }
    await until(() => transport.state === "failed", "it is given up");
    expect(transport.problem).toMatch(
      /^it ended too often; last: it exited with code 3; it said: out of memory$/,
    );
    expect(r.told.at(-1)).toMatch(/^error: .*: it ended too often/);
    expect(r.services.ended).toHaveLength(MCP_LIMITS.restarts + 1);
    await nothingLeft(r);
    await expect(transport.catalogue("Open", never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(r.exec.live).toBe(0);
    await clock.advance(MCP_LIMITS.maxBackoffMs);
    await expect(transport.catalogue("Open", never)).rejects.toThrow(/It is tried again now$/);
    await inTime(clock, 50, () => transport.state === "connected", "it is back");
  });

  test("that sends a message of more than 10 MiB loses its connection, and says why", async () => {
    const clock = new VirtualClock();
    const r = rig(clock);
    const transport = await r.connected();
    await expect(callOf(transport, "huge")).rejects.toMatchObject({ code: "DRIVER" });
    await inTime(clock, 100, () => r.told.length > 0, "its owner is told");
    expect(r.told[0]).toContain("it sent a message of more than 10485760 bytes");
  });

  test("tells the errors of its tools and of its protocol apart", async () => {
    const r = rig(systemClock);
    const transport = await r.connected();
    expect(await callOf(transport, "fails")).toMatchObject({ isError: true });
    await expect(callOf(transport, "error")).rejects.toMatchObject({
      code: "DRIVER",
      message: "error: the disk is full (error -32000)",
    });
    await expect(callOf(transport, "wrong")).rejects.toMatchObject({
      code: "DRIVER",
      message: expect.stringContaining("x is missing") as string,
    });
    await expect(transport.call("no/such/method", {}, never)).rejects.toMatchObject({ code: "DRIVER" });
  });

  test("a list that changes is asked for again", async () => {
    const r = rig(systemClock);
    const transport = await r.connected();
    const before = await transport.catalogue("Open", never);
    expect(await transport.catalogue("Open", never)).toBe(before);
    await callOf(transport, "change");
    expect((await transport.catalogue("Open", never)).tools).toHaveLength(before.tools.length + 1);
    expect(transport.tools).toBe(before.tools.length + 1);
  });

  test("has all the tools of all pages", async () => {
    const r = rig(systemClock);
    const transport = await r.connected(scripted("--many"));
    expect(transport.tools).toBe(1_000);
    expect([r.told, transport.problem]).toEqual([[], ""]);
  });

  test("leaves out one that is nested too deeply, and has the others", async () => {
    const r = rig(systemClock);
    const transport = await r.connected(scripted("--deep"));
    expect((await transport.catalogue("Open", never)).tools.map(({ name }) => name)).toContain("echo");
    expect(transport.problem).toBe('tool "deep": it has more than 200 levels; left out');
  });

  test("says what it leaves out, in the list of servers too", async () => {
    const r = rig(systemClock);
    const transport = await r.connected(scripted("--huge"));
    expect(transport.tools).toBe(4_096);
    const why = "tool tool4096 and what follows: there are more tools than fit (4096); left out";
    expect(transport.problem).toBe(why);
    expect(r.told).toEqual([expect.stringContaining(why)]);
  });
});

describe("a call", () => {
  test("without an answer is TIMEOUT after 60 s", async () => {
    const clock = new VirtualClock();
    const transport = await rig(clock).connected();
    const outcome = callOf(transport, "hang").catch((error: unknown) => error);
    await clock.advance(0);
    await clock.advance(MCP_LIMITS.quietMs);
    expect(await outcome).toMatchObject({
      code: "TIMEOUT",
      message: "hang: no answer for 60 s: its outcome is unknown",
    });
  });

  test("goes on while there is progress, for 600 s in all", async () => {
    const clock = new VirtualClock();
    const transport = await rig(clock).connected();
    const outcome = callOf(transport, "progress").then(
      () => "answered",
      (error: unknown) => error,
    );
    await clock.advance(0);
    let over = false;
    void outcome.then(() => {
      over = true;
    });
    for (let ms = 0; ms < MCP_LIMITS.totalMs; ms += 50_000) {
      await textOf(transport, "tick");
      expect(over).toBe(false);
      await clock.advance(50_000);
    }
    expect(await outcome).toMatchObject({
      code: "TIMEOUT",
      message: "progress: not answered within 600 s: its outcome is unknown",
    });
  });

  test("that ends in time after progress has its result", async () => {
    const clock = new VirtualClock();
    const transport = await rig(clock).connected();
    const answer = textOf(transport, "progress");
    await clock.advance(50_000);
    await textOf(transport, "tick");
    await clock.advance(50_000);
    await textOf(transport, "finish");
    expect(await answer).toBe("done after all");
  });

  test("is CANCELLED by its caller; others beside it go on", async () => {
    const r = rig(systemClock);
    const transport = await r.connected();
    const { tools } = await transport.catalogue("Open", never);
    const hang = tools.find(({ name }) => name === "hang")!;
    const stop = new AbortController();
    const call = transport.callTool(hang, {}, stop.signal).catch((error: unknown) => error);
    const beside = textOf(transport, "echo", { text: "still here" });
    stop.abort();
    expect(await call).toMatchObject({
      code: "CANCELLED",
      message: "hang: given up: its outcome is unknown",
    });
    expect(await beside).toBe("still here");
  });

  test("under way at close() ends UNAVAILABLE, later ones too; close() is idempotent", async () => {
    const r = rig(systemClock);
    const transport = await r.connected();
    const call = callOf(transport, "hang").catch((error: unknown) => error);
    await textOf(transport, "echo", { text: "x" });
    await transport.close();
    await transport.close();
    expect(await call).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(
        /is not mounted any more; the outcome of the call is unknown$/,
      ) as string,
    });
    await expect(transport.catalogue("Open", never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(transport.connect(never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(transport.state).toBe("failed");
  });
});

describe("the pool", () => {
  test("gives equal entries one server, whoever asks", async () => {
    const r = rig(systemClock);
    const [a, b, other] = await Promise.all([
      r.connected(),
      r.connected(scripted(), r.owner({ cwd: "/", env: { ...r.owner().env, TERM: "xterm", LANG: "C" } })),
      r.connected(scripted("--noisy")),
    ]);
    expect(a.servicePid).toBe(b.servicePid);
    expect(other.servicePid).not.toBe(a.servicePid);
    expect(r.exec.live).toBe(2);
  });

  test.each<[string, McpConfig, Record<string, string>]>([
    ["another variable", { ...scripted(), env: { A: "1" } } as McpConfig, {}],
    ["another folder", { ...scripted(), cwd: "/" } as McpConfig, {}],
    ["another PATH", scripted(), { PATH: "/usr/bin:/bin" }],
    ["another home", scripted(), { HOME: "/" }],
  ])("gives %s another server", async (_what, config, env) => {
    const r = rig(systemClock);
    await r.connected();
    await r.connected(config, r.owner({ env: { ...r.owner().env, ...env } }));
    expect(r.exec.live).toBe(2);
  });

  test("keeps a server that nobody holds for five minutes, for the next who wants it", async () => {
    const clock = new VirtualClock();
    const r = rig(clock);
    const [a, b] = [await r.connected(), await r.connected()];
    const pid = a.servicePid;
    await a.close();
    await clock.advance(MCP_LIMITS.idleTtlMs);
    expect(r.exec.live).toBe(1);
    await b.close();
    await clock.advance(MCP_LIMITS.idleTtlMs - 1);
    const c = await r.connected();
    expect(c.servicePid).toBe(pid);
    await c.close();
    await clock.advance(MCP_LIMITS.idleTtlMs - 1);
    expect(r.exec.live).toBe(1);
    await clock.advance(1);
    await nothingLeft(r);
    expect((await r.connected()).servicePid).not.toBe(pid);
  });

  test("stops connecting when nobody wants it any more", async () => {
    const r = rig(systemClock);
    const transport = r.transport(scripted("--mute"));
    const outcome = transport.connect(never).catch((error: unknown) => error);
    await until(() => r.exec.live === 1, "the program runs");
    await transport.close();
    expect(await outcome).toBeInstanceOf(Error);
    await nothingLeft(r);
  });

  test("has room for 64; one that nobody holds makes way, else BUDGET", async () => {
    const r = rig(systemClock);
    const missing = (i: number): McpConfig => ({ type: "http", url: `http://127.0.0.1:9/${i}`, headers: {} });
    const all = Array.from({ length: 64 }, (_, i) => r.transport(missing(i)));
    for (const each of all) void each.connect(never).catch(() => {});
    await expect(r.transport(missing(64)).connect(never)).rejects.toMatchObject({
      code: "BUDGET",
      message: "too many MCP servers at once: 64",
    });
    await all[0]?.close();
    await expect(r.transport(missing(64)).connect(never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("starts at most three programs at a time", async () => {
    const r = rig(systemClock);
    const slow = Array.from({ length: 5 }, (_, i) => r.transport(scripted("--mute", String(i))));
    for (const each of slow) void each.connect(never).catch(() => {});
    await until(() => r.exec.live === 3, "three run");
    await slow[0]!.close();
    await until(
      () => r.services.ended.length === 1 && r.exec.live === 3,
      "the fourth runs in place of the first",
    );
  });

  test("close() ends all at once, also what heeds no signal, and what it started", async () => {
    const r = rig(systemClock);
    const stubborn = await r.connected(scripted("--stubborn"));
    await Promise.all([r.connected(), r.connected(scripted("--noisy"))]);
    const before = r.osProcesses().length;
    await textOf(stubborn, "grandchild");
    await until(() => r.osProcesses().length > before, "a grandchild runs");
    await r.host.close();
    expect([r.services.running.size, r.exec.live, r.osProcesses()]).toEqual([0, 0, []]);
    await expect(r.transport().connect(never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

test.each<[McpConfig, RegExp]>([
  [{ type: "stdio", command: "", args: [], env: {} }, /the command is empty/],
  [{ type: "stdio", command: "x", args: ["a\0"], env: {} }, /a NUL in it/],
  [{ type: "stdio", command: "x", args: [], env: { "A=B": "" } }, /not a variable of an environment: "A=B"/],
  [{ type: "stdio", command: "x", args: [], env: {}, cwd: "here" }, /cwd must be absolute: here/],
  [{ type: "http", url: "ftp://x", headers: {} }, /not an http or https URL: ftp:\/\/x/],
  [{ type: "http", url: "http://a:b@x", headers: {} }, /put them into a header/],
  [{ type: "http", url: "http://x", headers: { "a b": "" } }, /not an HTTP header: "a b"/],
  [{ type: "http", url: "http://x", headers: { a: "1\r\nb: 2" } }, /not an HTTP header: "a"/],
])("transport() of %j is INVALID", (config, words) => {
  const r = rig(systemClock);
  expect(() => r.transport(config)).toThrow(
    expect.objectContaining({ code: "INVALID", message: expect.stringMatching(words) as string }),
  );
});
