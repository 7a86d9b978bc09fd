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

const words = "The first half, and then the second half.";
const delta = (text: string) =>
  ({
    event: "delta",
    pid: 1,
    piece: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
  }) as never;
const start = { event: "delta", pid: 1, piece: { type: "message_start" } } as never;
const message = { event: "message", pid: 1, content: [{ type: "text", text: words }] } as never;
const said = (told: ReturnType<Updates["take"]>) =>
  told.map((update) => ("content" in update ? (update.content as { text: string }).text : "")).join("");

test("of a reply whose beginning was missed, the whole tells what the editor lacks", () => {
  const updates = new Updates({ cwd: "/w", client: "c", showsTerminals: false });
  updates.take(start);
  expect(said(updates.take(delta("The first half,")))).toBe("The first half,");
  updates.resumed();
  expect(said(updates.take(delta(" half.")))).toBe("");
  expect(said(updates.take(message))).toBe(" and then the second half.");
});

test("a reply whose end was read before its events is sent once, and the same words of the next run again", () => {
  const updates = new Updates({ cwd: "/w", client: "c", showsTerminals: false });
  const run = () => [start, delta("The first half,"), delta(" and then the second half."), message];

  updates.take(start);
  expect(said(updates.take(delta("The first half, and")))).toBe("The first half, and");
  updates.resumed();
  expect(said(updates.missed(words))).toBe(" then the second half.");
  expect(said(run().flatMap((event) => updates.take(event)))).toBe("");
  updates.forgetMissed();
  expect(said(run().flatMap((event) => updates.take(event)))).toBe(words);
});
