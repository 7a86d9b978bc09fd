import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WireMessage } from "../../abi/llm.ts";
import type { ExecSpec, HostExec } from "../../kernel/ports/host.ts";
import { contractRequest } from "../contract.ts";
import { fold } from "../fold.ts";
import { testCaller } from "../testing/callers.ts";
import { ClaudeDriver } from "./claude.ts";

const none = new AbortController().signal;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "crux-claude-"));
  await writeFile(join(folder, "claude"), "", { mode: 0o755 });
});
afterEach(() => rm(folder, { recursive: true }));

/** A program that answers each message with `lines`, and each result with `more`; then it ends, or waits. */
class FakeExec implements HostExec {
  readonly ownership = "group";
  live = 0;
  killed = 0;
  started = 0;
  spec: ExecSpec | undefined;
  readonly input: { type: string; response?: { response?: { mcp_response?: { result?: object } } } }[] = [];
  readonly #lines: readonly unknown[];
  readonly #code: number | undefined;
  readonly #stderr: string;
  more: readonly unknown[] = [];

  constructor(lines: readonly unknown[], code?: number, stderr = "") {
    this.#lines = lines;
    this.#code = code;
    this.#stderr = stderr;
  }

  find({ argv }: Pick<ExecSpec, "argv">): string {
    return argv[0] ?? "";
  }

  run(spec: ExecSpec): ReturnType<HostExec["run"]> {
    this.spec = spec;
    this.live++;
    this.started++;
    const exit = Promise.withResolvers<{ code: number | null; signal: string | null }>();
    let isOver = false;
    const end = (code: number | null): void => {
      if (isOver) return;
      isOver = true;
      this.live--;
      exit.resolve({ code, signal: code === null ? "SIGTERM" : null });
    };
    return {
      osPid: 1,
      signal: () => true,
      exited: exit.promise,
      write: async (data) => {
        const line = JSON.parse(String(data));
        this.input.push(line);
        const isResult = line.response?.response?.mcp_response?.result?.content !== undefined;
        if (line.type !== "user" && !isResult) return;
        for (const each of isResult ? this.more : this.#lines)
          spec.onOutput("stdout", Buffer.from(`${JSON.stringify(each)}\n`));
        spec.onOutput("stderr", Buffer.from(this.#stderr));
        if (this.#code !== undefined) end(this.#code);
      },
      endInput: () => {},
      kill: async () => {
        this.killed++;
        end(null);
      },
    };
  }

  async close(): Promise<void> {}
}

function driverOf(exec: HostExec, env: Record<string, string> = { PATH: folder }): ClaudeDriver {
  return new ClaudeDriver(testCaller({ env }), exec, join(folder, "tmp"));
}

const event = (value: object): object => ({ type: "stream_event", event: value, parent_tool_use_id: null });
const reply = [
  { type: "system", subtype: "init", mcp_servers: [{ name: "crux", status: "connected" }] },
  event({ type: "message_start", message: { id: "m", model: "x", usage: { input_tokens: 3 } } }),
  event({
    type: "content_block_start",
    index: 0,
    content_block: { type: "tool_use", id: "t", name: "mcp__crux__view" },
  }),
  event({
    type: "content_block_delta",
    index: 0,
    delta: { type: "input_json_delta", partial_json: '{"a":1}' },
  }),
  { ...event({ type: "message_start", message: {} }), parent_tool_use_id: "toolu_other" },
  event({ type: "content_block_stop", index: 0 }),
  event({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } }),
  event({ type: "message_stop" }),
];

const answer = [
  event({ type: "message_start", message: { id: "n", model: "x", usage: { input_tokens: 3 } } }),
  event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "done" } }),
  event({ type: "content_block_stop", index: 0 }),
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
  event({ type: "message_stop" }),
];
const asks = (message: object): object => ({
  type: "control_request",
  request_id: "q",
  request: { subtype: "mcp_message", server_name: "crux", message },
});
const asksFor = (call: string): object =>
  asks({ id: 2, method: "tools/call", params: { name: "view", _meta: { "claudecode/toolUseId": call } } });

describe("ClaudeDriver", () => {
  it("stream() gives calls under our names; close() ends the child and removes its folder", async () => {
    const exec = new FakeExec(reply);
    const driver = driverOf(exec);
    const { blocks, usage } = await fold(driver.stream(contractRequest(), none));
    expect(blocks).toEqual([{ type: "tool_use", id: "t", name: "view", input: { a: 1 } }]);
    expect(usage).toMatchObject({ input_tokens: 3, output_tokens: 2 });
    expect(exec.live).toBe(1);
    await driver.close();
    expect(exec.live).toBe(0);
    expect(await readdir(join(folder, "tmp"))).toEqual([]);
  });

  it("stream() starts it without tools, settings or marks of its own", async () => {
    const exec = new FakeExec(reply);
    const env = { PATH: folder, CRUX_IPC_TOKEN: "t", CLAUDECODE: "1", HOME: "/home/me" };
    await fold(driverOf(exec, env).stream(contractRequest({ model: "opus" }), none));
    const { argv = [], env: given = {} } = exec.spec ?? {};
    expect(argv.join(" ")).toContain("--tools  --setting-sources  --strict-mcp-config");
    expect(argv.slice(-2)).toEqual(["--model", "opus"]);
    expect(Object.keys(given).filter((name) => /^CRUX|^CLAUDECODE$/.test(name))).toEqual([]);
    expect(given).toMatchObject({
      HOME: "/home/me",
      CLAUDE_CODE_MAX_RETRIES: "0",
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: "1000",
    });
    expect(exec.input).toMatchObject([
      { type: "control_request", request: { subtype: "initialize", sdkMcpServers: ["crux"] } },
      { type: "user", message: { role: "user" } },
    ]);
  });

  it("stream() has the same child go on: its call gets the result of the next request", async () => {
    const exec = new FakeExec([...reply, asks({ id: 1, method: "tools/list" }), asksFor("t")]);
    exec.more = answer;
    const driver = driverOf(exec);
    const first = contractRequest();
    const { blocks } = await fold(driver.stream(first, none));
    const results = (content: string): WireMessage[] => [
      ...first.messages,
      { role: "assistant", content: blocks },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content }] },
    ];
    const second = await fold(driver.stream({ ...first, messages: results("seen") }, none));
    expect(second.blocks).toEqual([{ type: "text", text: "done" }]);
    expect(exec.started).toBe(1);
    expect(exec.input.slice(2).map(({ response }) => response?.response?.mcp_response?.result)).toEqual([
      { tools: first.tools.map((tool) => expect.objectContaining(tool)) },
      { content: [{ type: "text", text: "seen" }], isError: false },
    ]);
    // the view was changed: what the child was told no longer holds
    await fold(driver.stream({ ...first, messages: results("other") }, none));
    expect([exec.started, exec.live]).toEqual([2, 1]);
    await driver.close();
  });

  const asksWithoutId = (input: object): object =>
    asks({ id: 3, method: "tools/call", params: { name: "view", arguments: input } });
  const second = (first: ReturnType<typeof contractRequest>): WireMessage[] => [
    ...first.messages,
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "view", input: { a: 1 } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "seen" }] },
  ];

  it("stream() matches a call that does not say its id, as of older programs, by its name and input", async () => {
    const exec = new FakeExec([...reply, asksWithoutId({ a: 1 })]);
    exec.more = answer;
    const driver = driverOf(exec);
    const first = contractRequest();
    await fold(driver.stream(first, none));
    const { blocks } = await fold(driver.stream({ ...first, messages: second(first) }, none));
    expect([blocks, exec.started]).toEqual([[{ type: "text", text: "done" }], 1]);
    await driver.close();
  });

  it.each([
    ["before the results are there", [...reply, asksFor("another")], answer],
    ["as it collects them", reply, answer],
  ])("stream() begins anew where a call could be any, told %s", async (_, lines, more) => {
    const exec = new FakeExec(lines);
    exec.more = more;
    const driver = driverOf(exec);
    const first = contractRequest();
    await fold(driver.stream(first, none));
    if (lines === reply)
      setImmediate(() =>
        exec.spec?.onOutput("stdout", Buffer.from(`${JSON.stringify(asksFor("another"))}\n`)),
      );
    const warned: string[] = [];
    const warn = (message: string) => void warned.push(message);
    const messages = second(first);
    await fold(driver.stream({ ...first, messages, warn }, none));
    expect([exec.started, exec.killed, warned]).toEqual([2, 1, [expect.stringContaining("Update it")]]);
    expect(JSON.stringify(exec.input.at(-1))).toContain("result of view (t)");
    await driver.close();
    expect(exec.live).toBe(0);
  });

  it.each([
    ["was cut off", "max_tokens", "view"],
    ["calls what there is not", "tool_use", "odd"],
  ])(
    "stream() ends the child after a reply that %s: it would ask by itself",
    async (_, stop_reason, tool) => {
      const changed = JSON.parse(
        JSON.stringify(reply).replace('tool_use"},"usage', `${stop_reason}"},"usage`),
      );
      const exec = new FakeExec(
        JSON.parse(JSON.stringify(changed).replace("mcp__crux__view", `mcp__crux__${tool}`)),
      );
      await fold(driverOf(exec).stream(contractRequest(), none));
      expect(exec.live).toBe(0);
    },
  );

  it("stream() asks for a summary in a child of its own", async () => {
    const exec = new FakeExec(answer);
    const driver = driverOf(exec);
    await fold(driver.stream(contractRequest(), none));
    await fold(driver.stream(contractRequest({ purpose: "compact" }), none));
    expect([exec.started, exec.killed]).toEqual([2, 1]);
    await driver.close();
  });

  it.each([
    [
      { result: "Not logged in · Please run /login" },
      { kind: "connection", shouldRetry: false, code: "UNAVAILABLE" },
    ],
    [{ result: "You've hit your session limit", api_error_status: 429 }, { kind: "quota" }],
    [{ result: "Prompt is too long", terminal_reason: "prompt_too_long" }, { kind: "prompt_too_long" }],
    [{ result: "lost", api_error: "connection_failed" }, { kind: "connection" }],
    [{ result: "API Error: 529", api_error_status: 529 }, { kind: "overloaded" }],
    [{ errors: ["it broke off", "twice"] }, { message: "claude: it broke off; twice" }],
    [{ result: "Credit balance is too low" }, { kind: "quota" }],
    [{ result: "Invalid API key · Fix external API key" }, { kind: "auth" }],
    [
      { result: "There's an issue with the selected model (x). It may not exist" },
      { kind: "model_not_found" },
    ],
    [{ result: "Prompt is too long" }, { kind: "prompt_too_long" }],
  ])("stream() maps the result %j", async (result, error) => {
    const exec = new FakeExec([{ type: "result", is_error: true, ...result }], 1);
    await expect(fold(driverOf(exec).stream(contractRequest(), none))).rejects.toMatchObject(error);
  });

  it("stream() tells how a program ended that said nothing, without the key", async () => {
    const exec = new FakeExec([], 1, "error: unknown option '--tools' (key abc123)");
    const env = { PATH: folder, ANTHROPIC_API_KEY: "abc123" };
    const failure = await fold(driverOf(exec, env).stream(contractRequest(), none)).catch((e: unknown) => e);
    expect(failure).toMatchObject({
      kind: "server",
      message: "claude ended with exit code 1 without a reply: error: unknown option '--tools' (key [key])",
      hint: expect.stringContaining("Update"),
    });
  });

  it("stream() refuses a reply that begins anew", async () => {
    const exec = new FakeExec([...reply.slice(0, 4), reply[1]]);
    await expect(fold(driverOf(exec).stream(contractRequest(), none))).rejects.toMatchObject({
      kind: "stream_malformed",
    });
    expect(exec.killed).toBe(1);
  });

  it("stream() and check() say where to get the program", async () => {
    const driver = driverOf(new FakeExec([]), { PATH: "/nonexistent:relative" });
    await expect(fold(driver.stream(contractRequest(), none))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      hint: expect.stringContaining("npm install -g @anthropic-ai/claude-code"),
    });
    expect(await driver.check()).toMatchObject({ ok: false });
  });
});
