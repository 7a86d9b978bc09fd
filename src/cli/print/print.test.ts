/** `crux -p` as a command, against a daemon that is played. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { WireStreamLine } from "../../abi/wire.ts";
import type { IdleEvent, WireEvent } from "../../abi/wire-events.ts";
import { runCli } from "../cli.ts";
import { FakeDaemon, Feed } from "../testing/fake-daemon.ts";
import { aMachine, crux } from "../testing/run-command.ts";
import { checkedLines } from "./testing.ts";

afterEach(() => {
  vi.useRealTimers();
});

const SESSION = "0f9f3c52-5c1e-4a52-9d5c-0d8f3a1b2c3d";
const progress = (payload: WireEvent): WireStreamLine => ({ type: "progress", payload });
const idle = (change: Partial<IdleEvent> = {}): WireStreamLine =>
  progress({
    event: "idle",
    pid: 1,
    seq: 0,
    outcome: "completed",
    result: "Seven.",
    exit_code: 0,
    tokens_used: 5,
    elapsed_ms: 90,
    queued: 0,
    ...change,
  });

/** Answers a session whose events come for the client that asks. */
function aDaemon(
  events: () => readonly WireStreamLine[] = () => [idle()],
  before: readonly WireStreamLine[] = [],
): FakeDaemon {
  const feed = new Feed();
  const begun = (payload: unknown): object => {
    const { client = "" } = payload as { client?: string };
    const read = { event: "input", pid: 1, seq: 0, from: 0, client, text: "x" } as const;
    feed.push(...before, progress(read), ...events());
    return { pid: 1, uuid: SESSION };
  };
  const [done, spent] = [() => ({}), () => ({ accounts: [], windows: [] })];
  const [opened, said] = [
    () => ({ pid: 1, uuid: SESSION }),
    (payload: unknown) => ({ ...begun(payload), seq: 0, ahead: 0 }),
  ];
  const again = { "session.open": opened, "session.say": said, "session.change": done };
  return new FakeDaemon(
    { spawn: begun, ...again, "budget.get": spent, "session.describe": done, kill: done },
    feed,
  );
}
const spawnOf = (daemon: FakeDaemon): unknown => daemon.asked.find(([method]) => method === "spawn")?.[1];

test("sends a session with the limits that were given, and asks nobody", async () => {
  const daemon = aDaemon();
  const line = "-p -m opus --max-turns 3 --max-budget-usd 0.5 --permission-mode acceptEdits count them";
  expect(await crux(line, { daemon })).toMatchObject({ code: 0, out: "Seven.\n", err: "" });
  expect(spawnOf(daemon)).toEqual({
    intent: "count them",
    model: "opus",
    max_steps: 3,
    limits: { usd: 0.5 },
    permission_mode: "accept_edits",
    cwd: "/home/me/project",
    env: {},
    verbose: true,
    session: true,
    client: expect.stringMatching(/^[0-9a-f]{6}$/),
    detail: "messages",
  });
  expect(daemon.openConnections).toBe(0);
});

test("behind -p every word is the prompt; before it a command keeps its name", async () => {
  const daemon = aDaemon();
  await crux("-p ps", { daemon, asTyped: true });
  expect(spawnOf(daemon)).toMatchObject({ intent: "ps" });
  const after = aDaemon();
  await crux("count them --print", { daemon: after, asTyped: true });
  expect(spawnOf(after)).toMatchObject({ intent: "count them" });
  expect((await crux("ps -p", { daemon: aDaemon() })).err).toContain("unknown flag: -p");
});

describe("a client library, which leaves -p out and asks before it speaks", () => {
  const FLAGS = "--output-format stream-json --verbose --input-format stream-json";
  const MESSAGE = JSON.stringify({ type: "user", message: { role: "user", content: "count them" } });
  const initialize = (request: object): string =>
    JSON.stringify({
      type: "control_request",
      request_id: "r1",
      request: { subtype: "initialize", ...request },
    });
  const speak = (daemon: FakeDaemon, { request = {}, flags = "" } = {}) =>
    crux(`${FLAGS} ${flags}`, { daemon, asTyped: true, stdin: `${initialize(request)}\n${MESSAGE}\n` });

  test("gets its answer, and its instructions and lists of rules reach the session", async () => {
    const daemon = aDaemon();
    const { code, out } = await speak(daemon, {
      request: { systemPrompt: [""], appendSystemPrompt: "Be brief.", hooks: {}, agents: null },
      flags: "--allowedTools=Write,Bash(git:*) --disallowedTools=WebFetch --append-system-prompt=Count.",
    });
    expect(code).toBe(0);
    const [answer, ...lines] = checkedLines(out);
    expect(answer).toMatchObject({ response: { subtype: "success", request_id: "r1" } });
    expect(lines.at(-1)).toMatchObject({ subtype: "success", result: "Seven." });
    expect(spawnOf(daemon)).toMatchObject({
      intent: "count them",
      system_prompt: "Count.\n\nBe brief.",
      allow: ["Write", "Bash(git:*)"],
      deny: ["WebFetch"],
    });
  });

  test("begins with its own instructions, agents and schema of the answer", async () => {
    const daemon = aDaemon(() => [idle({ result: '{"n": 7}' })]);
    const agents = { reviewer: { description: "reviews", prompt: "Review." } };
    const jsonSchema = { type: "object", required: ["n"] };
    const request = { systemPrompt: ["You count."], agents, jsonSchema };
    const { code, out } = await speak(daemon, { request, flags: `--agents={"other":{}}` });
    expect([code, checkedLines(out).at(-1)]).toMatchObject([0, { structured_output: { n: 7 } }]);
    expect(spawnOf(daemon)).toMatchObject({ instructions: "You count.", agents: { ...agents, other: {} } });
    expect(spawnOf(daemon)).not.toHaveProperty("system_prompt");
    expect(spawnOf(daemon)).toMatchObject({ intent: expect.stringContaining(JSON.stringify(jsonSchema)) });
  });

  test("brings MCP servers, from files and as JSON, and may keep all others out", async () => {
    const folder = mkdtempSync(join(tmpdir(), "crux-print-"));
    const given = (servers: object) => JSON.stringify({ mcpServers: servers });
    writeFileSync(join(folder, "mcp.json"), given({ one: { command: "1" }, two: { command: "2" } }));
    const flags = `--mcp-config=${join(folder, "mcp.json")} --mcp-config=${given({ two: { url: "u" } })}`;
    const [daemon, strict] = [aDaemon(), aDaemon()];
    await speak(daemon, { flags });
    expect(spawnOf(daemon)).toMatchObject({ mcp_servers: { one: { command: "1" }, two: { url: "u" } } });
    expect(spawnOf(daemon)).not.toHaveProperty("strict_mcp");
    expect(await speak(strict, { flags: "--strict-mcp-config" })).toMatchObject({ code: 0 });
    expect(spawnOf(strict)).toMatchObject({ strict_mcp: true });
    rmSync(folder, { recursive: true });
  });

  test("gives instructions in place of the agent's own, from a file too, and the only tools", async () => {
    const folder = mkdtempSync(join(tmpdir(), "crux-print-"));
    writeFileSync(join(folder, "own"), "You count.");
    const flags = `--system-prompt-file=${join(folder, "own")} --tools=Read,Bash --tools=mcp__x__* --setting-sources=user --add-dir=/ --add-dir=${folder}`;
    const daemon = aDaemon();
    expect(await speak(daemon, { flags })).toMatchObject({ code: 0 });
    const tools = ["Read", "Bash", "mcp__x__*"];
    expect(spawnOf(daemon)).toMatchObject({ instructions: "You count.", tools, dirs: ["/", folder] });
    const [none, all] = [aDaemon(), aDaemon()];
    await speak(none, { flags: "--tools=" });
    await speak(all, { flags: "--tools=default" });
    expect(spawnOf(none)).toMatchObject({ tools: [] });
    expect(spawnOf(all)).not.toHaveProperty("tools");
    rmSync(folder, { recursive: true });
  });

  test("has its own servers of tools, under its titles too, also in a session that it continues", async () => {
    const request = { sdkMcpServers: ["my sums"], sdkMcpServerManifests: { "my sums": {} }, title: "sums" };
    const flags = '--mcp-config={"mcpServers":{"two":{"type":"sdk","name":"two"},"x":{"url":"u"}}}';
    const daemon = aDaemon();
    expect(await speak(daemon, { request, flags })).toMatchObject({ code: 0 });
    const at = (name: string) => ({
      type: "http",
      url: expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/${name}$`)),
      headers: { authorization: expect.stringMatching(/^Bearer .{43}$/) },
    });
    expect(spawnOf(daemon)).toMatchObject({
      mcp_servers: { my_sums: at("my_sums"), two: at("two"), x: { url: "u" } },
    });
    expect(daemon.asked).toContainEqual(["session.describe", { pid: 1, title: "sums" }]);
    const again = aDaemon();
    expect(await speak(again, { request, flags: "-r 7 --max-turns 2" })).toMatchObject({ code: 0 });
    const changed = { pid: 7, env: {}, mcp_servers: { my_sums: at("my_sums") } };
    expect(again.asked).toContainEqual(["session.change", changed]);
    expect(again.asked).toContainEqual(["session.say", expect.objectContaining({ pid: 7, max_steps: 2 })]);
  });

  test("is refused before anything starts where it wants to watch with hooks", async () => {
    const daemon = aDaemon();
    const request = { hooks: { PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["h1"] }] } };
    const { code, out } = await speak(daemon, { request });
    const [answer, result] = checkedLines(out);
    expect([code, answer, result]).toMatchObject([
      1,
      { response: { subtype: "error", error: "not supported in print mode: hooks" } },
      { subtype: "error_during_execution", errors: [expect.stringContaining("hooks")] },
    ]);
    expect(spawnOf(daemon)).toBe(undefined);
  });
});

test("a script names its session, and may end it with the command, which says what stays", async () => {
  const daemon = aDaemon();
  const line = `-p --session-id ${SESSION.toUpperCase()} -n release --no-session-persistence count them`;
  const { code, out, err } = await crux(line, { daemon });
  expect([code, out, err]).toEqual([
    0,
    "Seven.\n",
    expect.stringContaining("its record stays in the journal"),
  ]);
  expect(spawnOf(daemon)).toMatchObject({ uuid: SESSION, intent: "count them" });
  const after = daemon.asked.filter(([method]) => method === "session.describe" || method === "kill");
  expect(after).toEqual([
    ["session.describe", { pid: 1, title: "release" }],
    ["kill", { pid: 1, signal: 1 }],
  ]);
});

test("--replay-user-messages prints each message once it is read, as it was written", async () => {
  const uuid = "7f9f3c52-5c1e-4a52-9d5c-0d8f3a1b2c3d";
  const stdin = JSON.stringify({ type: "user", uuid, message: { role: "user", content: "count them" } });
  const flags = "--input-format stream-json --output-format stream-json --replay-user-messages";
  const daemon = aDaemon(() => [idle({ result: "{}" })]);
  const { out } = await crux(`${flags} --json-schema {}`, { daemon, asTyped: true, stdin: `${stdin}\n` });
  expect(checkedLines(out).filter(({ isReplay }) => isReplay === true)).toMatchObject([
    { message: { role: "user", content: "count them" }, uuid, session_id: SESSION },
  ]);
});

describe("refused before anything is started:", () => {
  test.each([
    ["--output-format xml x", "--output-format is text, json, stream-json, not"],
    ["--input-format stream-json x", "--input-format stream-json needs --output-format stream-json"],
    ["--include-partial-messages --output-format json x", "--include-partial-messages needs"],
    ["--max-turns 0 x", "--max-turns needs a whole number from 1"],
    ["--max-budget-usd 0 x", "--max-budget-usd needs an amount of US dollars above 0"],
    ["--json-schema {} --json x", "--json and -p are two formats"],
    ["--json-schema nonsense x", "[NOT_FOUND] JSON Schema not found: /"],
    ["--json-schema {nonsense x", "--json-schema: not JSON"],
    ["--max-turns 2 --max-steps 3 x", "either --max-turns or --max-steps, not both"],
    ["--timeout soon x", "--timeout needs a time like 90s, 10m or 1h30m"],
    ["--fork-session x", "--fork-session needs a session to fork"],
    ["-c -r 7 x", "either -c or -r"],
    [
      "--system-prompt a --system-prompt-file b x",
      "either --system-prompt or --system-prompt-file, not both",
    ],
    ["--append-system-prompt-file /nowhere x", "[NOT_FOUND] instructions not found: /nowhere"],
    ["-c --system-prompt-file /nowhere x", "[NOT_FOUND] instructions not found: /nowhere"],
    ["--add-dir /nowhere x", "directory not found: /nowhere"],
    ["--mcp-config /nowhere x", "[NOT_FOUND] MCP servers not found: /nowhere"],
    ['--mcp-config {"one":{}} x', "--mcp-config: needs mcpServers"],
    ["-c --mcp-config {} x", "--mcp-config: needs mcpServers"],
    ["-c --max-turns 0 x", "--max-turns needs a whole number from 1"],
    ["-d x", "--detach prints nothing to wait for"],
    ["-r", "-r needs a value"],
    ["--teleported x", "unknown flag: --teleported"],
    ["--session-id 7 x", '--session-id needs a uuid, not "7"'],
    ["-c --session-id 7 x", "--session-id"],
    ["--replay-user-messages x", "--replay-user-messages needs --input-format stream-json"],
    ["--yolo x", "--yolo is not a flag of crux"],
  ])("-p %s", async (line, why) => {
    const daemon = aDaemon();
    const { code, out, err } = await crux(`-p ${line}`, { daemon });
    expect([code, `${out}${err}`]).toEqual([1, expect.stringContaining(why)]);
    expect(daemon.asked).toEqual([]);
  });

  test("the flags of print mode without -p", async () => {
    const { code, err } = await crux("--output-format json look here", { daemon: aDaemon() });
    expect([code, err]).toEqual([1, expect.stringContaining("--output-format goes with -p")]);
  });
});

test("a schema may stand in a file, and times are in seconds", async () => {
  const folder = mkdtempSync(join(tmpdir(), "crux-print-"));
  writeFileSync(join(folder, "schema.json"), '{"type": "object", "required": ["n"]}');
  const daemon = aDaemon(() => [idle({ result: '{"n": 7}' })]);
  const line = `-p --max-time 90 --timeout 60 --json-schema ${join(folder, "schema.json")} how many`;
  expect(await crux(line, { daemon })).toMatchObject({ code: 0, out: '{"n":7}\n' });
  expect(spawnOf(daemon)).toMatchObject({ limits: { wall_ms: 90_000 } });
  // the deadline is the command's own
  expect(spawnOf(daemon)).not.toHaveProperty("timeout_ms");
  rmSync(folder, { recursive: true });
});

test("a refusal is a result where JSON was asked for, exactly one", async () => {
  for (const format of ["json", "stream-json"]) {
    const line = `-p --output-format ${format} --max-turns no x`;
    const { code, out, err } = await crux(line, { daemon: aDaemon() });
    const lines = checkedLines(out);
    expect([code, err, lines.length]).toEqual([1, "", 1]);
    expect(lines[0]).toMatchObject({ subtype: "error_during_execution", terminal_reason: "invalid_input" });
  }
});

test("a flag that cannot be read is a result too where JSON was asked for, beside its words on stderr", async () => {
  for (const [line, why] of [
    ["--output-format json --teleported x", "unknown flag: --teleported"],
    ["--yolo --output-format=stream-json x", "--yolo is not a flag of crux"],
    ["--max-turns --output-format json", "--max-turns needs a value"],
  ] as const) {
    const { code, out, err } = await crux(`-p ${line}`, { daemon: aDaemon() });
    expect([code, err]).toEqual([1, expect.stringContaining(why)]);
    expect(checkedLines(out)).toMatchObject([
      { type: "result", is_error: true, terminal_reason: "invalid_input", errors: [`[INVALID] ${why}`] },
    ]);
  }
  for (const line of [
    "--teleported x",
    "--teleported --output-format json --output-format text",
    "--teleported -- --output-format json",
  ])
    expect(await crux(`-p ${line}`, { daemon: aDaemon() })).toMatchObject({ code: 1, out: "" });
  const { out } = await crux("-p --json --output-format json --teleported", { daemon: aDaemon() });
  expect(JSON.parse(out)).toMatchObject({ ok: false });
});

test("a stdin that stays silent for 3 s is empty", async () => {
  vi.useFakeTimers();
  const daemon = aDaemon();
  const { host, stdin, stdout } = aMachine({ daemon, stdin: "", stdinKind: "pipe" });
  // a pipe that nobody writes to, and nobody closes
  stdin.resume = () => {
    stdin.isFlowing = true;
  };
  const code = runCli(["-p", "count", "them"], host);
  while (!stdin.isFlowing) await vi.advanceTimersByTimeAsync(0);
  await vi.advanceTimersByTimeAsync(2_999);
  expect(spawnOf(daemon)).toBe(undefined);
  await vi.advanceTimersByTimeAsync(1);
  await stdout.shows("Seven.");
  expect([await code, spawnOf(daemon)]).toMatchObject([0, { intent: "count them" }]);
});

test("what others say to the session meanwhile is not printed", async () => {
  const before = [
    progress({ event: "input", pid: 1, seq: 3, from: 0, client: "other", text: "y" }),
    progress({ event: "tool_result", pid: 1, tool_use_id: "c", content: "theirs" }),
    idle({ seq: 3, result: "Not yours." }),
  ];
  const { out } = await crux("-p --output-format json x y", { daemon: aDaemon(undefined, before) });
  expect(checkedLines(out).map(({ result }) => result)).toEqual(["Seven."]);
});

test("a failed run says why on stderr, and keeps its text on stdout", async () => {
  const error = { code: "DRIVER", message: "the model does not answer", hint: "crux doctor" } as const;
  const failed = idle({ outcome: "failed", exit_code: 1, message: error.message, error, result: "So far." });
  const { code, out, err } = await crux("-p x y", { daemon: aDaemon(() => [failed]) });
  expect([code, out]).toEqual([1, "So far.\n"]);
  expect(err).toContain("[agent/1] error: the model does not answer\n");
  expect(err).toContain("crux doctor");
});

test("events that break off are a failure, also after a whole run", async () => {
  const feed = new Feed().end();
  const daemon = new FakeDaemon({ spawn: () => ({ pid: 1, uuid: SESSION }) }, feed);
  const { code, out } = await crux("-p --output-format json x y", { daemon });
  expect([code, checkedLines(out)[0]]).toMatchObject([
    1,
    {
      terminal_reason: "unavailable",
      session_id: SESSION,
      errors: [expect.stringContaining("daemon ended")],
    },
  ]);
});

test("-q keeps stderr empty but for errors, --verbose tells the calls and silences", async () => {
  const events = (): WireStreamLine[] => [
    progress({ event: "tool", pid: 1, device: "/bin/ls", in_bytes: 1, out_bytes: 2, duration_ms: 3 }),
    progress({ event: "log", pid: 1, level: "warn", message: "cut off" }),
    progress({
      event: "api_retry",
      pid: 1,
      attempt: 1,
      max_retries: 10,
      delay_ms: 500,
      error_kind: "server",
    }),
    progress({ event: "llm.stall", pid: 1, stall_duration_ms: 31e3, stall_count: 1, total_stall_ms: 31e3 }),
    idle(),
  ];
  const errOf = async (flag: string): Promise<string> =>
    (await crux(`-p ${flag} x y`, { daemon: aDaemon(events) })).err;
  expect(await errOf("-q")).toBe("");
  const warned = "[agent/1] log: cut off\n[agent/1] log: model: server error, retry 1/10 in 0.5s\n";
  expect(await errOf("")).toBe(warned);
  const silent = "[agent/1] log: model: nothing came for 31.0s, then the reply continued\n";
  expect(await errOf("-v")).toBe(`[agent/1] tool /bin/ls 1B → 2B 0.0s\n${warned}${silent}`);
});
