import { describe, expect, test } from "vitest";
import type { Usage } from "../../abi/llm.ts";
import type { CompleteEvent, IdleEvent, MessageEvent, WireEvent } from "../../abi/wire-events.ts";
import { Printer } from "./printer.ts";
import { checkedLines, plain } from "./testing.ts";

const usage: Usage = {
  input_tokens: 10,
  output_tokens: 4,
  cache_creation_input_tokens: 1,
  cache_read_input_tokens: 2,
};
const message = (change: Partial<MessageEvent> = {}): MessageEvent => ({
  event: "message",
  pid: 1,
  id: "m1",
  model: "sonnet",
  content: [{ type: "text", text: "Done." }],
  stop_reason: "end_turn",
  usage,
  duration_ms: 120,
  ...change,
});
const calling = message({
  content: [
    { type: "text", text: "I look." },
    { type: "tool_use", id: "c1", name: "bash", input: { command: "rm -r b" } },
  ],
  stop_reason: "tool_use",
});
const idle = (change: Partial<IdleEvent> = {}): IdleEvent => ({
  event: "idle",
  pid: 1,
  seq: 0,
  outcome: "completed",
  result: "Done.",
  exit_code: 0,
  tokens_used: 17,
  elapsed_ms: 300,
  queued: 0,
  ...change,
});
const facts = { durationMs: 300.4, usd: 0.002, totalUsd: 0.003 };

function aPrinter(): Printer {
  let n = 0;
  const printer = new Printer(() => `u${++n}`);
  printer.sessionId = "s1";
  return printer;
}

/** The lines of the events, each checked against the published schema. */
function printed(events: readonly WireEvent[]): object[] {
  const printer = aPrinter();
  const lines = events.flatMap((event) =>
    event.event === "idle" || event.event === "complete"
      ? [printer.end(event, facts).line]
      : printer.take(event),
  );
  return plain(checkedLines(`${lines.map((line) => JSON.stringify(line)).join("\n")}\n`));
}

test("a reply is a line for each block, a result of a call one more, and the end one result", () => {
  const result = { event: "tool_result", pid: 1, tool_use_id: "c1", content: "no", is_error: true } as const;
  const head = { id: "m1", type: "message", role: "assistant", model: "sonnet" };
  const tail = { stop_reason: null, stop_sequence: null, usage };
  expect(printed([calling, result, message({ id: "m2", model: "haiku" }), idle()])).toEqual([
    {
      type: "assistant",
      message: { ...head, content: [{ type: "text", text: "I look." }], ...tail },
    },
    {
      type: "assistant",
      message: {
        ...head,
        content: [{ type: "tool_use", id: "c1", name: "bash", input: { command: "rm -r b" } }],
        ...tail,
      },
    },
    {
      type: "user",
      message: {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c1", content: "no", is_error: true }],
      },
    },
    {
      type: "assistant",
      message: { ...head, id: "m2", model: "haiku", content: [{ type: "text", text: "Done." }], ...tail },
    },
    {
      type: "result",
      subtype: "success",
      is_error: false,
      terminal_reason: "completed",
      stop_reason: "end_turn",
      result: "Done.",
      num_turns: 2,
      duration_ms: 300,
      duration_api_ms: 240,
      total_cost_usd: 0.003,
      usage: {
        input_tokens: 20,
        output_tokens: 8,
        cache_creation_input_tokens: 2,
        cache_read_input_tokens: 4,
      },
      modelUsage: {
        sonnet: {
          inputTokens: 10,
          outputTokens: 4,
          cacheReadInputTokens: 2,
          cacheCreationInputTokens: 1,
        },
        haiku: { inputTokens: 10, outputTokens: 4, cacheReadInputTokens: 2, cacheCreationInputTokens: 1 },
      },
      permission_denials: [],
    },
  ]);
});

test("each line names the session, and no sub-agent", () => {
  const [line] = aPrinter().take(message());
  expect(line).toMatchObject({ uuid: "u1", session_id: "s1", parent_tool_use_id: null });
});

test("the cost belongs to the one model that answered; the next run counts from zero", () => {
  const printer = aPrinter();
  printer.take(message());
  const first = printer.end(idle(), facts).line;
  expect(first.modelUsage).toMatchObject({ sonnet: { costUSD: 0.002 } });
  const second = printer.end(idle(), { ...facts, usd: 0 }).line;
  expect([second.num_turns, second.modelUsage, second.usage.input_tokens]).toEqual([0, {}, 0]);
  expect(second.stop_reason).toBe(null);
});

test("where several models answered, each has its own cost, if its price is known", () => {
  const printer = aPrinter();
  printer.take(message());
  printer.take({ ...message(), model: "haiku" });
  expect(printer.only).toBe(undefined);
  const used = { output_tokens: 4, cache_creation_input_tokens: 0, cache_read_input_tokens: 1 };
  const byModel = new Map([
    ["haiku", { usage: { ...used, input_tokens: 30 }, usd: 0.001 }],
    ["sonnet", { usage: { ...used, input_tokens: 10 } }],
  ]);
  const { modelUsage, usage } = printer.end(idle(), { ...facts, byModel, window: 200_000 }).line;
  expect([modelUsage.haiku?.costUSD, modelUsage.sonnet?.costUSD]).toEqual([0.001, undefined]);
  expect([modelUsage.haiku?.inputTokens, usage.input_tokens, usage.cache_read_input_tokens]).toEqual([
    30, 40, 2,
  ]);
  expect([modelUsage.haiku?.contextWindow, modelUsage.sonnet?.contextWindow]).toEqual([200_000, undefined]);
});

test("a refusal names the call that was refused, and what allows it", () => {
  const printer = aPrinter();
  printer.take(calling);
  printer.take({ event: "tool_result", pid: 1, tool_use_id: "c1", content: "denied", is_error: true });
  const denied = ["bash", "edit"].map((tool) => ({
    tool,
    what: tool,
    reason: "no rule",
    allow: `--allow ${tool}`,
  }));
  const { line } = printer.end(idle({ denied }), facts);
  expect(line.permission_denials).toEqual([
    {
      tool_name: "bash",
      tool_use_id: "c1",
      tool_input: { command: "rm -r b" },
      reason: "no rule",
      allow: "--allow bash",
    },
    { tool_name: "edit", tool_use_id: "", tool_input: {}, reason: "no rule", allow: "--allow edit" },
  ]);
});

test("pieces of a reply come as the published stream has them", () => {
  const start = { type: "message_start", message: { id: "m1", model: "sonnet", usage } } as const;
  const stop = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage } as const;
  const events = [start, stop].map((piece): WireEvent => ({ event: "delta", pid: 1, piece }));
  expect(printed(events)).toEqual([
    {
      type: "stream_event",
      event: {
        type: "message_start",
        message: {
          id: "m1",
          type: "message",
          role: "assistant",
          model: "sonnet",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage,
        },
      },
    },
    {
      type: "stream_event",
      event: { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage },
    },
  ]);
});

test("pieces of a reply that does not come as a whole are taken back, once", () => {
  const start = (id: string): WireEvent => ({
    event: "delta",
    pid: 1,
    piece: { type: "message_start", message: { id, model: "sonnet", usage } },
  });
  const printer = aPrinter();
  const take = (event: WireEvent) =>
    printer.take(event).map((line) => ("message_id" in line ? line.message_id : line.type));
  expect(take(start("m1"))).toEqual(["stream_event"]);
  expect(take({ event: "tombstone", pid: 1, reply_id: "m1" })).toEqual(["m1"]);
  expect(take(start("m3"))).toEqual(["stream_event"]);
  expect(take(message({ id: "m3" }))).toEqual(["assistant"]);
  expect(printer.dropped()).toEqual([]);
  take(start("m4"));
  const [line] = plain(
    checkedLines(
      `${printer
        .dropped()
        .map((each) => JSON.stringify(each))
        .join("")}\n`,
    ),
  );
  expect(line).toEqual({ type: "system", subtype: "tombstone", message_id: "m4" });
});

test("retries and shorter views are lines of their own", () => {
  const lines = printed([
    {
      event: "api_retry",
      pid: 1,
      attempt: 2,
      max_retries: 10,
      delay_ms: 512.3,
      error_kind: "server",
      status: 500,
    },
    { event: "api_retry", pid: 1, attempt: 3, max_retries: 10, delay_ms: 1_000, error_kind: "connection" },
    { event: "context.moved", pid: 1, layer: "full", trigger: "reactive", before: 160_000, after: 20_000 },
    { event: "context.moved", pid: 1, layer: "micro", trigger: "auto", before: 9_000, after: 5_000 },
  ]);
  const retry = { type: "system", subtype: "api_retry", max_retries: 10 };
  expect(lines).toEqual([
    { ...retry, attempt: 2, retry_delay_ms: 512, error_status: 500, error: "server" },
    { ...retry, attempt: 3, retry_delay_ms: 1_000, error_status: null, error: "connection" },
    {
      type: "system",
      subtype: "compact_boundary",
      compactMetadata: { compactType: "auto", preCompactTokenCount: 160_000, postCompactTokenCount: 20_000 },
      compact_metadata: { trigger: "auto", pre_tokens: 160_000 },
    },
    expect.objectContaining({ subtype: "microcompact_boundary" }),
  ]);
});

test("what is more than information is a notice, and nothing else of a run is a line", () => {
  expect(
    printed([
      { event: "spawn", pid: 1, intent: "x", notice: "a script answers" },
      { event: "step", pid: 1, step: 1, total: 0 },
      { event: "log", pid: 1, level: "info", message: "reading" },
      { event: "log", pid: 1, level: "warn", message: "cut off" },
      {
        event: "model_switch",
        pid: 1,
        from: { device: "/dev/llm/a", model: "opus" },
        to: { device: "/dev/llm/b", model: "" },
        cause: "overloaded",
      },
    ]),
  ).toEqual(
    ["a script answers", "cut off", "model: opus overloaded; b answers for the rest of the run"].map(
      (text) => ({
        type: "system",
        subtype: "notice",
        level: "warn",
        message: text,
      }),
    ),
  );
});

describe("the end of a run", () => {
  const complete = (change: Partial<CompleteEvent>): CompleteEvent => ({
    event: "complete",
    pid: 1,
    result: "",
    exit_code: 1,
    tokens_used: 0,
    ...change,
  });
  const failure = { code: "DRIVER", message: "the model does not answer" } as const;
  const rows: ReadonlyArray<readonly [CompleteEvent | IdleEvent, string, string, string]> = [
    [
      idle({ exit_code: 1, message: "max steps exceeded" }),
      "error_max_turns",
      "max_turns",
      "max steps exceeded",
    ],
    [
      idle({ exit_code: 2, message: "budget_exceeded" }),
      "error_max_budget_usd",
      "budget_exhausted",
      "budget_exceeded",
    ],
    [
      idle({ exit_code: 1, message: failure.message, error: failure }),
      "error_during_execution",
      "model_error",
      failure.message,
    ],
    ...(["image_error", "prompt_too_long", "denied"] as const).map(
      (reason) =>
        [
          idle({ exit_code: 1, reason, message: failure.message, error: failure }),
          "error_during_execution",
          reason,
          failure.message,
        ] as const,
    ),
    [complete({ exit_code: 1, exit_reason: "timeout" }), "error_during_execution", "deadline", "timeout"],
    [
      complete({ exit_code: 1, exit_reason: "structured_output_failed" }),
      "error_max_structured_output_retries",
      "structured_output_failed",
      "structured_output_failed",
    ],
    [
      complete({ exit_code: 137, exit_reason: "killed: SIGKILL" }),
      "error_during_execution",
      "aborted_streaming",
      "killed: SIGKILL",
    ],
  ];
  test.each(rows)("%j is told as %s", (event, subtype, reason, words) => {
    const { line, exitCode } = aPrinter().end(event, facts);
    expect(exitCode).toBe(event.exit_code);
    expect([line.subtype, line.terminal_reason, line.errors]).toEqual([subtype, reason, [words]]);
    expect(line.is_error).toBe(true);
  });

  test("amid a call is told from one amid a reply", () => {
    const printer = aPrinter();
    printer.take(calling);
    const { line } = printer.end(idle({ exit_code: 130, outcome: "interrupted" }), facts);
    expect(line.terminal_reason).toBe("aborted_tools");
  });

  test("by a limit says which one, and how it is raised", () => {
    const printer = aPrinter();
    const message = "budget exceeded: limit $1.00, used $0.98";
    printer.take({ event: "log", pid: 4, level: "warn", message });
    const ended = idle({ exit_code: 2, outcome: "limit", message: "budget_exceeded" });
    const { line } = printer.end(ended, facts);
    expect([line.errors, line.hint]).toEqual([
      ["budget_exceeded", message],
      expect.stringContaining(`crux budget ${ended.pid} `),
    ]);
    expect(printer.end(ended, facts).line.errors).toEqual(["budget_exceeded"]);
  });

  test("says what to do next, where that is known", () => {
    const error = { code: "DRIVER", message: "a web page", hint: "Check the URL." } as const;
    const { line } = aPrinter().end(idle({ exit_code: 1, outcome: "failed", error }), facts);
    expect([line.errors, line.hint]).toEqual([["a web page"], "Check the URL."]);
    expect(aPrinter().failed(error, facts).line.hint).toBe("Check the URL.");
    checkedLines(`${JSON.stringify(line)}\n`);
  });

  test("that never came is a result too, with the text so far", () => {
    const printer = aPrinter();
    printer.take(calling);
    const { line, exitCode } = printer.failed({ code: "UNAVAILABLE", message: "the daemon ended" }, facts);
    expect([line.result, line.errors, line.terminal_reason, exitCode]).toEqual([
      "I look.",
      ["[UNAVAILABLE] the daemon ended"],
      "unavailable",
      1,
    ]);
    checkedLines(`${JSON.stringify(line)}\n`);
  });
});
