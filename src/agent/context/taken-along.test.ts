import { expect, test } from "vitest";
import type { Block } from "../../abi/llm.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { messageTokens } from "../../lib/tokens/message.ts";
import { takenAlong } from "./taken-along.ts";
import type { Unit } from "./units.ts";

let last = 0;

/** A step with one call, and its result. */
function step(name: string, input: object, content: string): Unit {
  const id = `c${++last}`;
  const call: Block = { type: "tool_use", id, name, input };
  const messages: ContextMessage[] = [
    { role: "assistant", content: "", blocks: [call] },
    { role: "tool", content, tool_call_id: id },
  ];
  const parts = messages.map((message) => ({ n: ++last, message, tokens: messageTokens(message) }));
  return { kind: "step", parts, tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0) };
}

const todo = (...items: [string, string][]) =>
  step("todo", { todos: items.map(([content, status]) => ({ content, status })) }, "noted");
const skill = (name: string, content: string) => step("skill", { skill: name }, content);
const along = (covered: Unit[], { tail = [] as Unit[], room = 40_000 } = {}) =>
  takenAlong({ covered, tail }, room, () => false);

test("takenAlong() has the todo list as it was written last, unless it is in view or all is done", () => {
  const [first, second] = [todo(["read", "pending"]), todo(["read", "completed"], ["write", "in_progress"])];
  expect(along([first, second])).toBe("Your todo list:\n- completed: read\n- in_progress: write");
  expect(along([first], { tail: [second] })).toBe("");
  expect(along([first, todo(["read", "completed"])])).toBe("");
});

test("takenAlong() has each skill once, as it was loaded last, also one that was called through tool_call", () => {
  const through = step("tool_call", { tool: "skill", params: { skill: "review" } }, "LOOK TWICE");
  const text = along([skill("commit", "OLD"), skill("commit", "SMALL COMMITS"), through]);
  expect(text).toContain("The skill commit, which you use:\nSMALL COMMITS");
  expect(text).toContain("The skill review, which you use:\nLOOK TWICE");
  expect(text).not.toContain("OLD");
  expect(along([skill("commit", "A")], { tail: [skill("commit", "A")] })).toBe("");
});

test("takenAlong() keeps to the limits of one skill, of all, and to the room", () => {
  const many = Array.from({ length: 9 }, (_, n) => skill(`s${n}`, "word ".repeat(8_000)));
  const tokens = (room: number) => messageTokens({ content: along(many, { room }) });
  expect(tokens(100_000)).toBeLessThan(27_000);
  expect(tokens(100_000)).toBeGreaterThan(20_000);
  expect(tokens(8_000)).toBeLessThan(5_000);
  expect(along(many)).toContain("The skill s8");
  expect(along(many)).not.toContain("The skill s0");
});

test("takenAlong() has a file as it was viewed last, and not one that was changed since", () => {
  const view = (path: string, content: string) => step("view", { file_path: path }, content);
  const edit = step("edit", { file_path: "/b" }, "ok");
  const text = along([view("/a", "OLD"), view("/a", "NEW"), view("/b", "GONE"), edit]);
  expect(text).toBe("As you last saw /a:\nNEW");
});

test("takenAlong() has the content of a file that was viewed again unchanged, not the note that says so", () => {
  const view = (path: string, content: string) => step("view", { file_path: path }, content);
  const again = view("/a", "[unchanged since it was last viewed: /a]");
  expect(along([view("/a", "WHOLE"), view("/b", "B"), again])).toBe(
    "As you last saw /b:\nB\n\nAs you last saw /a:\nWHOLE",
  );
  expect(along([again])).toBe("");
});

test("takenAlong() repeats no file that stays in view, and none that was changed there", () => {
  const view = (path: string, content: string) => step("view", { file_path: path }, content);
  const [again, edit] = [view("/a", "WHOLE"), step("edit", { file_path: "/b" }, "ok")];
  const covered = [view("/a", "OLD"), view("/b", "B"), view("/c", "C")];
  expect(along(covered, { tail: [again, edit] })).toBe("As you last saw /c:\nC");
  const note = view("/c", "[unchanged since it was last viewed: /c]");
  expect(along([view("/c", "C")], { tail: [note] })).toBe("As you last saw /c:\nC");
});
