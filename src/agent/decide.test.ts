import { describe, expect, test } from "vitest";
import { VfsError } from "../abi/errors.ts";
import { asPid } from "../abi/ids.ts";
import type { Reply } from "../abi/llm.ts";
import { decide, endOfFailure, type TurnFacts } from "./decide.ts";
import { textOf } from "./model/blocks.ts";
import { continued, freshState, type LoopState } from "./state.ts";
import { call, reply } from "./testing/replies.ts";

const first: LoopState = { ...freshState(0), turn: 1 };
const facts: TurnFacts = {
  maxTurns: 10,
  maxOutputTokens: 8_000,
  escalatedOutputTokens: 64_000,
  hasMail: false,
  account: { limit: 0, used: 0, reserved: 0 },
  device: "/dev/llm/fake",
};
const decided = (state: Partial<LoopState & TurnFacts>, given: Reply) =>
  decide({ ...first, ...state }, { ...facts, ...state }, given);
const account = (limit: number, used: number) => ({ limit, used, reserved: 0 });
const view = call("view");
const cut = { stopReason: "max_tokens" } as const;
const paused = { stopReason: "pause_turn" } as const;
const thinking = { type: "thinking", thinking: "hm", signature: "s" } as const;

describe("decide()", () => {
  const rows: [name: string, state: Partial<LoopState & TurnFacts>, reply: Reply, reason: string][] = [
    ["text", {}, reply("done"), "completed"],
    ["a call", {}, reply([view]), "next_turn"],
    ["a call with stop reason end_turn", {}, reply([view], { stopReason: "end_turn" }), "next_turn"],
    ["stop reason tool_use without a call", {}, reply("hm", { stopReason: "tool_use" }), "completed"],
    ["no block", {}, reply([]), "empty_reply_retry"],
    ["thoughts alone", {}, reply([thinking]), "empty_reply_retry"],
    ["no block again", { hasRetriedEmpty: true }, reply([]), "model_error"],
    ["no block again while mail waits", { hasRetriedEmpty: true, hasMail: true }, reply([]), "mail"],
    ["a pause", {}, reply("so", paused), "pause_turn"],
    ["the eighth pause in a row", { pauses: 7 }, reply("so", paused), "pause_turn"],
    ["the ninth pause in a row", { pauses: 8 }, reply("so", paused), "model_error"],
    ["a pause with a call", {}, reply([view], paused), "next_turn"],
    ["a pause without a word", {}, reply([], paused), "empty_reply_retry"],
    ["the step before the last", { turn: 9 }, reply([view]), "next_turn"],
    ["the last step with a call", { turn: 10 }, reply([view]), "max_turns"],
    ["the last step with text", { turn: 10 }, reply("done"), "completed"],
    ["text while mail waits", { hasMail: true }, reply("done"), "mail"],
    ["a call while mail waits", { hasMail: true }, reply([view]), "next_turn"],
    ["the last step with text while mail waits", { turn: 10, hasMail: true }, reply("done"), "completed"],
    ["no step limit", { turn: 10_000, maxTurns: 0 }, reply([view]), "next_turn"],
    ["cut off", {}, reply("so", cut), "max_output_tokens_escalate"],
    ["cut off with a call", {}, reply([view], cut), "max_output_tokens_escalate"],
    ["cut off again", { hasEscalated: true }, reply("so", cut), "max_output_tokens_recovery"],
    [
      "the third piece",
      { hasEscalated: true, recoveries: 2 },
      reply("so", cut),
      "max_output_tokens_recovery",
    ],
    ["the fourth piece", { hasEscalated: true, recoveries: 3 }, reply("so", cut), "model_error"],
    ["cut off again with a call", { hasEscalated: true }, reply([view], cut), "next_turn"],
    [
      "cut off, no more to be had",
      { escalatedOutputTokens: 8_000 },
      reply("so", cut),
      "max_output_tokens_recovery",
    ],
    ["refusal", {}, reply("no", { stopReason: "refusal" }), "model_error"],
    ["full window", {}, reply("so", { stopReason: "model_context_window_exceeded" }), "prompt_too_long"],
    ["budget used up", { account: account(100, 100) }, reply([view]), "budget_exhausted"],
    ["budget passed by the last answer", { account: account(100, 101) }, reply("done"), "budget_exhausted"],
    ["budget not used up", { account: account(100, 99) }, reply("done"), "completed"],
  ];
  test.each(rows)("%s", (_name, state, given, reason) => {
    expect(decided(state, given).reason).toBe(reason);
  });

  test("gives the calls in order", () => {
    const calls = [call("view"), call("ls")];
    expect(decided({}, reply([thinking, ...calls]))).toEqual({ reason: "next_turn", calls });
  });
});

describe("continued()", () => {
  const worn: LoopState = { ...first, hasRetriedEmpty: true, recoveries: 2, pauses: 3 };

  test("makes a new record and leaves the old one", () => {
    const before = structuredClone(worn);
    expect(continued(worn, { reason: "mail" })).not.toBe(worn);
    expect(worn).toEqual(before);
  });

  test.each([{ reason: "mail" }, { reason: "next_turn", calls: [view] }] as const)(
    "$reason counts anew what is counted in a row",
    (next) => {
      const now = { hasRetriedEmpty: false, recoveries: 0, pauses: 0, transition: next.reason };
      expect(continued(worn, next)).toEqual({ ...worn, ...now });
    },
  );

  test.each([
    [
      { reason: "max_output_tokens_recovery", attempt: 3 },
      { recoveries: 3, hasRetriedEmpty: false },
    ],
    [
      { reason: "pause_turn", inRow: 4 },
      { pauses: 4, hasRetriedEmpty: false },
    ],
    [{ reason: "max_output_tokens_escalate" }, { hasEscalated: true }],
    [{ reason: "reactive_compact_retry" }, {}],
  ] as const)("%j", (next, now) => {
    expect(continued(worn, next)).toEqual({ ...worn, ...now, transition: next.reason });
  });
});

describe("endOfFailure()", () => {
  test("a refusal of the account is the budget's end", () => {
    const error = new VfsError({ op: "Write", pid: asPid(1), code: "BUDGET", message: "spent" });
    expect(endOfFailure(error, null)).toEqual({ reason: "budget_exhausted", words: "spent" });
  });

  test("whatever is thrown after an abort is the abort", () => {
    expect(endOfFailure(new Error("bug"), "tools")).toEqual({ reason: "aborted_tools" });
  });

  test("a bug is thrown on", () => {
    expect(() => endOfFailure(new TypeError("bug"), null)).toThrow(TypeError);
  });
});

test("textOf() joins text blocks and leaves out the rest", () => {
  expect(
    textOf([{ type: "text", text: "a" }, view, { type: "text", text: "" }, { type: "text", text: "b" }]),
  ).toBe("a\nb");
});
