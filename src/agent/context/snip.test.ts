/** What the user may take out of view, and what stays. */
import { expect, test } from "vitest";
import type { ViewState } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { snipped } from "./snip.ts";
import { unitsOf } from "./units.ts";

const words = (content: string): ContextMessage => ({ role: "user", content });
const step = (id: string): ContextMessage[] => [
  { role: "assistant", content: "", blocks: [{ type: "tool_use", id, name: "view", input: {} }] },
  { role: "tool", content: `result ${id}`.repeat(50), tool_call_id: id },
];
/** 1 the intent, 2 3 a step, 4 words, 5 6, 7 8, 9 10 steps. */
const MESSAGES = [words("intent"), ...step("a"), words("rule"), ...step("b"), ...step("c"), ...step("d")];
const STATE: ViewState = {
  ...{ head: 0, records: 10, undoable: 0, pins: [] },
  view: { put: null, keep: [], clears: [{ n: 6 }], tailFrom: 1 },
  numbers: MESSAGES.map((_, i) => i + 1),
};
const snip = (messages: readonly number[], state = STATE) =>
  snipped(unitsOf(MESSAGES, state), state, messages);

test("whole steps leave the view, named by one of their messages; all others stay where they are", () => {
  const found = snip([6]);
  expect(found).toMatchObject({ keep: [[1, 4]], clears: [], tailFrom: 7, folds: [] });
  expect(found?.freed).toBeGreaterThan(100);
  expect(snip([2, 3, 5])).toMatchObject({
    keep: [
      [1, 1],
      [4, 4],
    ],
    tailFrom: 7,
  });
});

test("what has left the view frees nothing again, and what never was is NOT_FOUND", () => {
  const view = { ...STATE.view, keep: [[1, 1] as const], clears: [], tailFrom: 7 };
  const numbers = [1, 7, 8, 9, 10];
  const shown = numbers.map((n) => MESSAGES[n - 1]!);
  const state = { ...STATE, view, numbers };
  expect(snipped(unitsOf(shown, state), state, [5, 2])).toBeUndefined();
  expect(() => snip([11])).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
});

test.each<[string, number, Partial<ViewState>]>([
  ["words of the user", 4, {}],
  ["of the newest two steps", 8, {}],
  ["pinned", 3, { pins: [2] }],
  ["a summary", 5, { view: { ...STATE.view, put: 5, clears: [] } }],
])("what is %s is INVALID, and named", (why, n, more) => {
  expect(() => snip([n], { ...STATE, ...more })).toThrow(
    expect.objectContaining({ code: "INVALID", message: expect.stringMatching(`message ${n} .*${why}`) }),
  );
});
