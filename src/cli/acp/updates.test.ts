import { expect, test } from "vitest";
import { Updates } from "./updates.ts";

test.each([
  ["done", false, { exit_code: 0, signal: null }],
  ["no\nExit code 3", false, { exit_code: 3, signal: null }],
  ["Exit code 2\nthe sandbox refused a write", false, { exit_code: 2, signal: null }],
  ["half\nEnded by signal SIGKILL", false, { exit_code: null, signal: "SIGKILL" }],
  ["[PERMISSION] refused", true, { exit_code: 1, signal: null }],
])("a terminal of the editor is told how its command ended: %j", (content, is_error, exit) => {
  const updates = new Updates({ cwd: "/w", client: "c", showsTerminals: true });
  const call = { type: "tool_use", id: "t", name: "bash", input: { command: "x" } } as const;
  updates.take({ event: "message", pid: 1, content: [call] } as never);
  const told = updates.take({ event: "tool_result", pid: 1, tool_use_id: "t", content, is_error } as never);
  expect(told.at(-1)).toMatchObject({ _meta: { terminal_exit: { terminal_id: "t", ...exit } } });
});
