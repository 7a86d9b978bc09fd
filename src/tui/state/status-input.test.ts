import { expect, test } from "vitest";
import type { Result } from "../../abi/methods/methods.ts";
import type { WireSession } from "../../abi/methods/session.ts";
import type { WireEvent } from "../../abi/wire-events.ts";
import { NOTHING_SEEN, statusInput, tallied } from "./status-input.ts";

const usage = {
  ...{ input_tokens: 10, output_tokens: 2, cache_creation_input_tokens: 0, cache_read_input_tokens: 5 },
  reasoning_tokens: 1,
};
const events = [
  { event: "message", duration_ms: 120.4, usage },
  { event: "call", call: { tool: "edit", about: "a", facts: { added: 3, removed: 1 } } },
  { event: "call", call: { tool: "view", about: "a" } },
] as unknown as WireEvent[];

test("statusInput() has what this terminal saw and the daemon says, under the names that programs know", () => {
  const known = {
    session: {
      uuid: "u-1",
      title: "fix it",
      name: "explore",
      created_at: "2026-01-01T00:00:00Z",
    } as WireSession,
    context: { window: 1_000, used: 250 } as Result<"context.stat">,
    cost: { lines: [{ input: 30, cached: 12, output: 9 }] } as Result<"cost.get">,
    ...{ costUsd: 0.5, tally: events.reduce(tallied, NOTHING_SEEN), model: "big", mode: "plan" as const },
    ...{ cwd: "/w", addedDirs: ["/x"], version: "1", vim: "normal" },
    branchOf: (folder: string) => (folder === "/w" ? "main" : "worktree/web/login"),
    now: Date.parse("2026-01-01T00:00:02Z"),
  };
  expect(statusInput(known)).toMatchObject({
    ...{ session_id: "u-1", session_name: "fix it", permission_mode: "plan", vim: { mode: "NORMAL" } },
    agent: { name: "explore" },
    workspace: { current_dir: "/w", project_dir: "/w", added_dirs: ["/x"] },
    cost: {
      ...{ total_cost_usd: 0.5, total_duration_ms: 2_000, total_api_duration_ms: 120 },
      ...{ total_lines_added: 3, total_lines_removed: 1 },
    },
    context_window: {
      ...{ total_input_tokens: 42, total_output_tokens: 9, context_window_size: 1_000 },
      ...{ used_percentage: 25, remaining_percentage: 75 },
      current_usage: { input_tokens: 10, output_tokens: 2, cache_read_input_tokens: 5 },
    },
  });
  expect(statusInput(known)).not.toHaveProperty("worktree");
  expect(statusInput({ ...known, cwd: "/w/.crux/worktrees/web/login/src" }).worktree).toEqual({
    ...{ name: "web/login", path: "/w/.crux/worktrees/web/login", branch: "worktree/web/login" },
    ...{ original_cwd: "/w", original_branch: "main" },
  });
  const bare = statusInput({ ...known, session: undefined, context: undefined, vim: undefined });
  for (const key of ["session_name", "context_window", "vim", "agent"]) expect(bare).not.toHaveProperty(key);
});
