import { describe, expect, test } from "vitest";
import { VfsError } from "./errors.ts";
import { asPid } from "./ids.ts";
import { LlmError } from "./llm-error.ts";
import { CONTINUES, ENDS, exitOf, type Terminal } from "./loop.ts";

const error = new LlmError({ kind: "auth", message: "bad key", device: "/dev/llm/fake" });
const wrapped = new VfsError({
  op: "Write",
  pid: asPid(1),
  code: "PERMISSION",
  message: "[redacted]",
  cause: error,
  device: "/d",
});

/** The table of the exit status, row by row; the outcome is what clients and queued messages see. */
const rows: [Terminal, code: number, reason: string, kind: string, outcome: string][] = [
  [{ reason: "completed" }, 0, "completed", "done", "completed"],
  [{ reason: "model_error", error }, 1, "bad key", "fault", "failed"],
  [{ reason: "model_error", error: wrapped }, 1, "[redacted]", "fault", "failed"],
  [{ reason: "image_error", error }, 1, "bad key", "done", "failed"],
  [{ reason: "max_turns", calls: [] }, 1, "max steps exceeded", "done", "limit"],
  [{ reason: "budget_exhausted" }, 2, "budget_exceeded", "done", "limit"],
  [{ reason: "blocking_limit", error }, 1, "blocking_limit", "done", "limit"],
  [{ reason: "prompt_too_long", error }, 1, "prompt_too_long", "done", "failed"],
  [{ reason: "stop_hook_prevented", error }, 1, "stop_hook_prevented", "done", "failed"],
  [{ reason: "hook_stopped", error }, 1, "hook_stopped", "done", "failed"],
  [{ reason: "structured_output_failed", error }, 1, "structured_output_failed", "done", "failed"],
  [{ reason: "denied", error }, 1, "bad key", "done", "failed"],
  [{ reason: "deadline" }, 1, "timeout", "done", "interrupted"],
  [{ reason: "aborted_streaming" }, 143, "killed: SIGTERM", "killed", "interrupted"],
  [{ reason: "aborted_tools" }, 143, "killed: SIGTERM", "killed", "interrupted"],
];

describe("exitOf()", () => {
  test.each(rows)("$0.reason", (end, code, reason, kind, outcome) => {
    expect(exitOf(end)).toMatchObject({ code, reason, kind });
    expect(ENDS[end.reason].outcome).toBe(outcome);
  });

  test("every end has its row above", () => {
    expect([...new Set(rows.map(([end]) => end.reason))].sort()).toEqual(Object.keys(ENDS).sort());
  });

  test("keeps the error as the system call gave it", () => {
    expect(exitOf({ reason: "model_error", error: wrapped }).err).toBe(wrapped);
  });
});

test("the bounds of what is repeated", () => {
  const bounds = Object.entries(CONTINUES).flatMap(([reason, bound]) =>
    bound === null ? [] : [`${reason} ${bound.most} per ${bound.per}`],
  );
  expect(bounds).toEqual([
    "max_output_tokens_escalate 1 per run",
    "max_output_tokens_recovery 3 per row",
    "collapse_drain_retry 1 per row",
    "reactive_compact_retry 1 per row",
    "reply_salvaged 3 per row",
    "stop_hook_blocking 8 per row",
    "pause_turn 8 per row",
    "empty_reply_retry 1 per row",
  ]);
});
