/** `crux -p` from end to end: a model server on loopback, real tools, and stdout as a script gets it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { checkedLines, type Line, plain } from "../src/cli/print/testing.ts";
import { DIALECTS, modelEnv } from "./harness/model.ts";
import { onSharedStage, server, startModel, world } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { CRUX, type RunOptions, settled } from "./harness/world.ts";
import { error, text, toolUse } from "./model-server/reply.ts";
import type { ModelServerOptions } from "./model-server/server.ts";

onSharedStage({ models: { "test-": { price: { input: 10, output: 10 } } } });
beforeEach(() => {
  world.write("a.txt", "one\n");
});

const serve = (script: ModelServerOptions["script"]): Promise<void> => startModel({ script });
const view = toolUse({ name: "view", input: { file_path: "a.txt" } }, { text: "Looking." }).usage({
  input: 100,
  output: 10,
});
const done = text("All done.").usage({ input: 200, output: 20, cacheRead: 5 });
const crux = (args: readonly string[], options: RunOptions = {}) =>
  world.crux(args, { ...options, env: { ...modelEnv(server), ...options.env } });
const stream = ["-p", "--output-format", "stream-json"] as const;
const json = ["-p", "--output-format", "json"] as const;
const user = (content: string): string =>
  `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`;
const resultOf = (out: string): Line => checkedLines(out).at(-1) ?? { type: "none" };
const typesOf = (lines: readonly Line[]): string[] =>
  lines.map(({ type, subtype }) => (subtype === undefined ? type : `${type}/${subtype}`));

/** A command whose stdin and stdout stay in the hands of the test. */
function byHand(args: readonly string[]): ChildProcess & { readonly shown: () => string } {
  const child = spawn(CRUX, args, {
    cwd: world.work,
    env: { ...world.env, ...modelEnv(server) },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const out: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stdin.on("error", () => {});
  return Object.assign(child, { shown: () => Buffer.concat(out).toString("utf8") });
}
interface SumsLine {
  readonly type: string;
  readonly subtype?: string;
  readonly request_id?: string;
  readonly request?: { subtype: string; message: SumsMessage };
}
interface SumsMessage {
  readonly id?: number;
  readonly method: string;
  readonly params?: { arguments?: unknown };
}

/** An MCP server with one tool, as a client library has it. */
function sums({ method, params }: SumsMessage, called: unknown[]): object {
  const capabilities = { tools: {} };
  const serverInfo = { name: "sums", version: "1" };
  if (method === "initialize") return { result: { protocolVersion: "2025-11-25", capabilities, serverInfo } };
  if (method === "tools/list")
    return { result: { tools: [{ name: "add", inputSchema: { type: "object" } }] } };
  if (method !== "tools/call") return { error: { code: -32_601, message: "no such method" } };
  called.push(params?.arguments);
  return { result: { content: [{ type: "text", text: "five" }] } };
}
const codeOf = async (child: ChildProcess): Promise<unknown> => (await once(child, "close"))[0];

describe.each(DIALECTS)("behind the %s base URL", (dialect) => {
  it("text is the last text, json one result, stream-json a line for each event", async () => {
    await serve([view, done, view, done, view, done, done]);
    const env = modelEnv(server, dialect);
    expect(await world.crux(["-p", "look", "at", "it"], { env })).toMatchObject({
      code: 0,
      stdout: "All done.\n",
      stderr: "",
    });
    expect(server.requests[0]?.lastUserText).toContain("look at it");
    const one = await world.crux([...json, "look"], { env });
    const lines = checkedLines(one.stdout);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      type: "result",
      subtype: "success",
      result: "All done.",
      num_turns: 2,
      stop_reason: "end_turn",
      usage: { input_tokens: 300, output_tokens: 30, cache_read_input_tokens: 5 },
    });
    const [used = expect.fail()] = Object.values(lines[0]?.modelUsage as Record<string, Line>);
    expect(used.contextWindow).toBe(dialect === "openai" ? 128_000 : 1_000_000);
    const all = checkedLines((await world.crux([...stream, "--tools", "Read,bash", "look"], { env })).stdout);
    expect(typesOf(all)).toEqual([
      ...["system/init", "assistant", "assistant", "user", "assistant", "result/success"],
    ]);
    expect(new Set(all.map(({ session_id }) => session_id)).size).toBe(1);
    expect(all[0]).toMatchObject({ cwd: world.work, permissionMode: "default", crux_version: "0.1.0" });
    expect(all[0]?.model).toBe(dialect === "openai" ? "test-model" : "claude-sonnet-5-5");
    expect([all[0]?.tools, server.requests.at(-1)?.tools]).toEqual([
      ["bash", "view"],
      expect.arrayContaining(["bash", "view"]),
    ]);
    expect(server.requests.at(-1)?.tools).not.toContain("write");
    const [began] = checkedLines((await world.crux([...stream, "--deny", "write", "look"], { env })).stdout);
    expect(began?.tools).toContain("bash");
    expect(began?.tools).not.toContain("write");
    const { num_turns: _, duration_api_ms, duration_ms } = all.at(-1) as Line;
    expect(duration_api_ms).toBeLessThanOrEqual(duration_ms as number);
    expect(plain(all.slice(3, 4))).toMatchObject([
      { message: { content: [{ type: "tool_result", content: expect.stringContaining("one") }] } },
    ]);
  });

  it("with partial messages the pieces make up the blocks", async () => {
    await serve([view.fragment(3).truncate({ afterEvents: 6 }), view.fragment(3), done.fragment(2)]);
    const env = modelEnv(server, dialect);
    const lines = checkedLines(
      (await world.crux([...stream, "--include-partial-messages", "look"], { env })).stdout,
    );
    const at = lines.findIndex(({ subtype }) => subtype === "tombstone");
    const begun = lines.slice(0, at).flatMap(({ event }) => ((event as Line)?.message as Line)?.id ?? []);
    expect(begun).toEqual([lines[at]?.message_id]);
    expect(lines[at + 1]).toMatchObject({ subtype: "api_retry", error: "stream_malformed" });
    lines.splice(0, at);
    const events = lines.flatMap(({ type, event }) => (type === "stream_event" ? [event as Line] : []));
    const deltas = events.flatMap(({ delta }) => (delta === undefined ? [] : [delta as Line]));
    expect(deltas.map(({ text: piece = "" }) => piece).join("")).toBe("Looking.All done.");
    const inputs = deltas.map(({ partial_json: piece = "" }) => piece).join("");
    expect(JSON.parse(inputs)).toEqual({ file_path: "a.txt" });
    expect(deltas.length).toBeGreaterThan(10);
    expect(events.filter(({ type }) => type === "message_stop")).toHaveLength(2);
    expect(lines.filter(({ type }) => type === "assistant")).toHaveLength(3);
  });
});

it("a foreign script that knows such lines by their type reads the run", async () => {
  await serve([view, done]);
  const { stdout } = await crux([...stream, "--verbose", "look"]);
  const seen = {
    session: "",
    tools: [] as string[],
    results: [] as string[],
    text: "",
    cost: 0,
    isOver: false,
  };
  for (const line of stdout.split("\n").filter(Boolean)) {
    const message = JSON.parse(line);
    if (seen.isOver) throw new Error("a line behind the result");
    if (message.type === "system" && message.subtype === "init") seen.session = message.session_id;
    if (message.type === "assistant")
      for (const block of message.message.content) {
        if (block.type === "text") seen.text += block.text;
        if (block.type === "tool_use") seen.tools.push(`${block.name} ${JSON.stringify(block.input)}`);
      }
    if (message.type === "user")
      for (const block of message.message.content) seen.results.push(block.tool_use_id);
    if (message.type === "result") {
      seen.isOver = true;
      seen.cost = message.total_cost_usd;
    }
  }
  expect(seen).toMatchObject({
    session: expect.stringMatching(/^[0-9a-f-]{36}$/),
    tools: ['view {"file_path":"a.txt"}'],
    results: [expect.any(String)],
    text: "Looking.All done.",
    isOver: true,
  });
  // 335 tokens at 10 dollars a million; what the cache read may be cheaper
  expect(seen.cost).toBeGreaterThan(0.0032);
  expect(seen.cost).toBeLessThan(0.0034);
});

it("-r, -c and --fork-session continue a session by what the result said", async () => {
  await serve(["First.", "Second.", "Third.", "Fourth.", "Fifth.", "Sixth."].map((words) => text(words)));
  const first = resultOf((await crux([...json, "remember 7"])).stdout);
  const id = first.session_id as string;
  const COPY = "11111111-2222-4333-8444-555555555555";
  const second = resultOf((await crux([...json, "and now?", "-r", id])).stdout);
  expect([second.result, second.session_id]).toEqual(["Second.", id]);
  expect(JSON.stringify(server.requests[1]?.body)).toContain("remember 7");
  const third = resultOf(
    (await crux([...json, "-c", "--fork-session", "--session-id", COPY, "and in a copy?"])).stdout,
  );
  expect(third.result).toBe("Third.");
  expect(third.session_id).toBe(COPY);
  expect(JSON.stringify(server.requests[2]?.body)).toContain("and now?");
  const flags = ["--session-id", id, "--tools", "view"];
  expect((await crux(["-p", "-r", id, ...flags, "again"])).stdout).toBe("Fourth.\n");
  expect(JSON.stringify(server.requests[3]?.body)).not.toContain("in a copy");
  expect(server.requests[3]?.tools).toEqual(["view"]);
  const unkept = ["-p", "-r", id, "--no-session-persistence", "once"];
  expect((await crux(unkept)).stdout).toBe("Fifth.\n");
  expect((await crux(["-p", "-r", id, "and last"])).stdout).toBe("Sixth.\n");
  expect(JSON.stringify(server.requests[5]?.body)).not.toContain("once");
});

it("stdin belongs to the prompt; without either nothing is started", async () => {
  await serve([text("Read.")]);
  expect(await crux(["-p", "sum it up"], { stdin: "1\n2\n" })).toMatchObject({ code: 0, stdout: "Read.\n" });
  expect(server.requests[0]?.lastUserText).toContain("sum it up\n1\n2");
  const none = await crux([...stream], { stdin: " \n" });
  const lines = checkedLines(none.stdout);
  expect([none.code, lines.length]).toEqual([1, 1]);
  expect(lines[0]).toMatchObject({ type: "result", is_error: true, session_id: "" });
  expect(lines[0]?.errors).toEqual([expect.stringMatching(/^\[INVALID\] there is no prompt/)]);
  const words = await crux(["-p"], { stdin: "" });
  expect(words).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("[INVALID]") });
  expect(server.requests).toHaveLength(1);
});

it("limits end the run with their own subtype and exit code", async () => {
  await serve([{ default: () => view }]);
  const turns = await crux([...json, "--max-turns", "2", "look"]);
  expect([turns.code, resultOf(turns.stdout)]).toMatchObject([
    1,
    { subtype: "error_max_turns", terminal_reason: "max_turns", num_turns: 2 },
  ]);
  const money = await crux([...json, "--max-budget-usd", "0.3", "look"]);
  const result = resultOf(money.stdout);
  expect([money.code, result]).toMatchObject([
    2,
    { subtype: "error_max_budget_usd", terminal_reason: "budget_exhausted", is_error: true },
  ]);
  expect(result.total_cost_usd).toBeLessThanOrEqual(0.3);
  await serve(error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"));
  const full = await crux([...json, "look"]);
  expect([full.code, resultOf(full.stdout).terminal_reason]).toEqual([1, "prompt_too_long"]);
});

it("what would be asked is refused, and the result says what", async () => {
  await serve([toolUse({ name: "bash", input: { command: "touch b.txt; node -p 1 > c.txt" } }), done]);
  const result = resultOf((await crux([...json, "do it"])).stdout);
  expect(result.permission_denials).toEqual([
    expect.objectContaining({
      tool_name: "bash",
      tool_use_id: expect.stringMatching(/./),
      tool_input: { command: "touch b.txt; node -p 1 > c.txt" },
    }),
  ]);
  expect(result.result).toBe("All done.");
});

it("-c takes the flags of a run: what they change stays, and rules end with the command", async () => {
  const touch = toolUse({ name: "bash", input: { command: "touch made" } }).usage({ input: 100, output: 10 });
  await serve([done, touch, touch, done, touch, done]);
  await crux(["-p", "remember this"]);
  const flags = ["--append-system-prompt", "Speak of kites.", "--model", "test-second", "--max-turns", "1"];
  const cut = resultOf((await crux([...json, "-c", ...flags, "go on"])).stdout);
  expect(cut).toMatchObject({ subtype: "error_max_turns", num_turns: 1 });
  expect(existsSync(join(world.work, "made"))).toBe(false);
  const allowed = await crux([...json, "-c", "--allowedTools", "Bash(touch *)", "--", "and on"]);
  expect(resultOf(allowed.stdout)).toMatchObject({ subtype: "success", permission_denials: [] });
  expect(existsSync(join(world.work, "made"))).toBe(true);
  const again = resultOf((await crux([...json, "-c", "once more"])).stdout);
  expect(again).toMatchObject({ subtype: "success", permission_denials: [{ tool_name: "bash" }] });
  const [first, , third, ...others] = server.requests.map(({ body }) => JSON.stringify(body));
  expect(first).not.toContain("Speak of kites.");
  for (const body of [third, ...others]) {
    expect(body).toContain("Speak of kites.");
    expect(body).toContain('"model":"test-second"');
    expect(body).toContain("remember this");
  }
});

describe("--input-format stream-json", () => {
  const input = [...stream, "--input-format", "stream-json"];

  it("answers message after message in one session", async () => {
    await serve([text("One."), text("Two.")]);
    const child = byHand(input);
    child.stdin?.write(user("first"));
    await settled(child.shown, (out) => out.includes('"type":"result"'));
    child.stdin?.end(user("second"));
    expect(await codeOf(child)).toBe(0);
    const lines = checkedLines(child.shown());
    expect(typesOf(lines)).toEqual([
      ...["system/init", "assistant", "result/success", "assistant", "result/success"],
    ]);
    const results = lines.filter(({ type }) => type === "result");
    expect(results.map(({ result }) => result)).toEqual(["One.", "Two."]);
    expect(results.map(({ num_turns }) => num_turns)).toEqual([1, 1]);
    expect(new Set(lines.map(({ session_id }) => session_id)).size).toBe(1);
  });

  it("asks on stdout what would be asked, and takes the answer from stdin", async () => {
    const touch = (name: string) => toolUse({ name: "bash", input: { command: `node -p 1 > ${name}` } });
    await serve([touch("yes.txt"), touch("no.txt"), done]);
    const child = byHand([...stream, "--input-format", "stream-json", "--permission-prompt-tool", "stdio"]);
    const asked = () =>
      child
        .shown()
        .split("\n")
        .filter((line) => line.includes('"control_request"'))
        .map((line) => JSON.parse(line) as { request_id: string; request: Line });
    const reply = (request_id: string, response: object) =>
      child.stdin?.write(
        `${JSON.stringify({ type: "control_response", response: { subtype: "success", request_id, response } })}\n`,
      );
    child.stdin?.write(`${JSON.stringify({ type: "user", message: { role: "user", content: "touch" } })}\n`);
    for (const [at, response] of [
      { behavior: "allow" },
      { behavior: "deny", message: "not this" },
    ].entries()) {
      await settled(asked, ({ length }) => length === at + 1);
      reply(asked()[at]?.request_id ?? "", response);
    }
    child.stdin?.end();
    expect(await codeOf(child)).toBe(0);
    expect(asked()[0]?.request).toMatchObject({
      tool_name: "bash",
      input: { command: "node -p 1 > yes.txt" },
    });
    expect([existsSync(join(world.work, "yes.txt")), existsSync(join(world.work, "no.txt"))]).toEqual([
      true,
      false,
    ]);
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("not this");
    checkedLines(child.shown());
  });

  it("calls a tool of the program that drives it, behind the same rules", async () => {
    const add = toolUse({ name: "tool_call", input: { tool: "mcp__sums__add", params: { a: 2, b: 3 } } });
    const select = toolUse({ name: "tool_search", input: { query: "select:mcp__sums__add" } });
    await serve([select, add, done, add, done]);
    const called: unknown[] = [];
    const drive = async (flags: readonly string[]): Promise<unknown> => {
      const child = byHand([...stream, "--input-format", "stream-json", ...flags]);
      const put = (line: object) => child.stdin?.write(`${JSON.stringify(line)}\n`);
      const request = { subtype: "initialize", sdkMcpServers: ["sums"] };
      put({ type: "control_request", request_id: "r1", request });
      child.stdin?.write(user("add them"));
      const seen = new Set<string>();
      child.stdout?.on("data", () => {
        for (const line of child.shown().split("\n").slice(0, -1)) {
          const { type, subtype, request_id = "", request: asked } = JSON.parse(line) as SumsLine;
          if (type === "result" && subtype !== undefined) child.stdin?.end();
          if (asked?.subtype !== "mcp_message" || seen.has(request_id)) continue;
          seen.add(request_id);
          const mcp_response = { jsonrpc: "2.0", id: asked.message.id, ...sums(asked.message, called) };
          const response = { subtype: "success", request_id, response: { mcp_response } };
          put({ type: "control_response", response });
        }
      });
      const code = await codeOf(child);
      return { code, result: resultOf(child.shown()).result };
    };
    expect(await drive(["--allowedTools", "mcp__sums__add"])).toEqual({ code: 0, result: "All done." });
    expect(called).toEqual([{ a: 2, b: 3 }]);
    expect(server.requests.at(-1)?.lastToolResults[0]?.content).toContain("five");
    await drive([]);
    expect(server.requests.at(-1)?.lastToolResults[0]?.content).toContain("no rule allows it");
    expect(called).toHaveLength(1);
  });

  it("names the line that is no message, answers the others, and exits 1", async () => {
    await serve([text("One.")]);
    const stdin = `\n{"type":"user"\n${user("first")}{"type":"system"}\n`;
    const { code, stdout } = await crux(input, { stdin });
    const lines = checkedLines(stdout);
    expect(code).toBe(1);
    const bad = lines.filter(({ subtype }) => subtype === "notice");
    expect(bad.map(({ line }) => line)).toEqual([2, 4]);
    expect(bad.map(({ code: each }) => each)).toEqual(["INVALID", "INVALID"]);
    expect(lines.find(({ type }) => type === "result")).toMatchObject({ result: "One.", is_error: false });
  });

  it("answers what a client library asks before the first message", async () => {
    await serve([text("One.")]);
    const asks = '{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}\n';
    const child = byHand(input);
    child.stdin?.write(asks);
    await settled(child.shown, (out) => out.includes("control_response"));
    child.stdin?.end(user("first"));
    expect(await codeOf(child)).toBe(0);
    expect(typesOf(checkedLines(child.shown()))).toEqual([
      ...["control_response", "system/init", "assistant", "result/success"],
    ]);
  });
});

describe("--json-schema", () => {
  const schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}';

  it("sends a misfit back, and has the value in the result", async () => {
    await serve([text("Seven."), text('```json\n{"n": 7}\n```')]);
    const result = resultOf((await crux([...json, "--json-schema", schema, "how many?"])).stdout);
    expect(result).toMatchObject({ subtype: "success", structured_output: { n: 7 }, num_turns: 2 });
    expect(server.requests[0]?.lastUserText).toContain('"required":["n"]');
    expect(server.requests[1]?.lastUserText).toContain("does not match");
    await server.close();
    await serve([text('{"n": 8}')]);
    expect((await crux(["-p", "--json-schema", schema, "how many?"])).stdout).toBe('{"n":8}\n');
  });

  it("gives up after the third correction", async () => {
    await serve([{ default: () => text("Seven.") }]);
    const { code, stdout } = await crux([...json, "--json-schema", schema, "how many?"]);
    expect([code, resultOf(stdout)]).toMatchObject([
      1,
      { subtype: "error_max_structured_output_retries", terminal_reason: "structured_output_failed" },
    ]);
    expect(server.requests).toHaveLength(4);
  });
});

describe("a run that is stopped", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("by %s has its result, and exits %i", async (signal, code) => {
    await serve([text("Never.").stall({ beforeHeaders: true })]);
    const child = byHand([...stream, "wait"]);
    await settled(child.shown, (out) => out.includes('"init"'));
    await settled(
      () => server.requests.length,
      (count) => count === 1,
    );
    child.kill(signal);
    expect(await codeOf(child)).toBe(code);
    const lines = checkedLines(child.shown());
    expect(typesOf(lines)).toEqual(["system/init", "result/error_during_execution"]);
    expect(lines.at(-1)).toMatchObject({ terminal_reason: "aborted_streaming", is_error: true });
  });

  it("by --timeout has its result, exits 1, and the session goes on with -c", async () => {
    await serve([text("Never.").stall({ beforeHeaders: true }), done]);
    const late = await crux([...stream, "--timeout", "1", "wait"]);
    expect(late.code).toBe(1);
    const lines = checkedLines(late.stdout);
    expect(lines.at(-1)).toMatchObject({
      ...{ subtype: "error_during_execution", terminal_reason: "deadline", is_error: true },
      errors: ["timeout: it was not over within 1.0s"],
    });
    const next = resultOf((await crux([...json, "-c", "--timeout", "60", "and now?"])).stdout);
    expect([next.result, next.session_id]).toEqual(["All done.", lines[0]?.session_id]);
  });

  it("by a closed stdout exits 141 and leaves nothing running", async () => {
    await serve([text("Never.").stall({ beforeHeaders: true })]);
    const pids = async () => (await crux(["ps", "-q"])).stdout.split("\n").filter(Boolean);
    const before = await pids();
    const child = byHand([...stream, "wait"]);
    await settled(
      () => server.requests.length,
      (count) => count === 1,
    );
    child.stdout?.destroy();
    expect(await codeOf(child)).toBe(141);
    // its client does not wait for a daemon that has much to do
    const left = async () => (await pids()).filter((pid) => !before.includes(pid));
    expect(await settled(left, ({ length }) => length === 0)).toEqual([]);
    expect((await crux(["sessions"])).stdout).not.toContain("wait");
  });

  it("by the end of the daemon has a result that says so", async () => {
    await serve([text("Never.").stall({ beforeHeaders: true }), text("Again.")]);
    const child = byHand([...stream, "wait"]);
    await settled(
      () => server.requests.length,
      (count) => count === 1,
    );
    process.kill(world.daemonPid ?? 0, "SIGKILL");
    expect(await codeOf(child)).toBe(1);
    const lines = checkedLines(child.shown());
    expect(typesOf(lines)).toEqual(["system/init", "result/error_during_execution"]);
    expect(lines.at(-1)?.errors).toEqual([expect.stringMatching(/^\[UNAVAILABLE\] the daemon ended/)]);
    // the next daemon clears away what the killed one has left
    expect((await crux(["ps", "-q"])).code).toBe(0);
  });
});

const isHeld = async (): Promise<boolean> => {
  await using wire = await Wire.open(world.socket);
  return JSON.stringify(await wire.ask("list_procs")).includes('"held"');
};

it("a run that is held back for a slow reader goes on when its client is killed", async () => {
  const long = "x".repeat(400 * 1024);
  const asks = toolUse({ name: "view", input: { file_path: "a.txt" } }, { text: long });
  await serve([asks, asks, done, done, done, done]);
  expect((await crux(["daemon", "start"])).code).toBe(0);
  const child = spawn(CRUX, [...stream, "look"], {
    cwd: world.work,
    env: { ...world.env, ...modelEnv(server) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  expect(await settled(isHeld, (held) => held)).toBe(true);
  child.kill("SIGKILL");
  await codeOf(child);
  expect(await settled(isHeld, (held) => !held)).toBe(false);
});

it("a slow reader holds the run back, and loses nothing", async () => {
  const long = "x".repeat(400 * 1024);
  const asks = toolUse({ name: "view", input: { file_path: "a.txt" } }, { text: long });
  // the replies fill the window, so summaries are asked for, too
  await serve([asks, asks, done, done, done, done]);
  expect((await crux(["daemon", "start"])).code).toBe(0);
  const child = spawn(CRUX, [...stream, "look"], {
    cwd: world.work,
    env: { ...world.env, ...modelEnv(server) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  expect(await settled(isHeld, (held) => held)).toBe(true);
  const out: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  const code = await codeOf(child);
  const lines = checkedLines(Buffer.concat(out).toString("utf8"));
  expect([code, lines.at(-1)?.subtype, lines.at(-1)?.errors]).toEqual([0, "success", undefined]);
  expect(JSON.stringify(lines).split(long)).toHaveLength(3);
  expect((await crux(["ps", "--json", "-v"])).stdout).not.toContain('"held"');
});
