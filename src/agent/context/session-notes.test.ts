import { expect, test } from "vitest";
import type { ViewState } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { SessionNotes } from "./session-notes.ts";
import { type Unit, unitsOf } from "./units.ts";

const NOTES = "## Goal: count";
/** Each about as many tokens. */
function units(words: number, steps: number, tokens = 2_000): readonly Unit[] {
  const messages: ContextMessage[] = [];
  for (let n = 0; n < words; n++) messages.push({ role: "user", content: `word ${n}` });
  for (let n = 0; n < steps; n++)
    messages.push(
      {
        role: "assistant",
        content: "",
        blocks: [{ type: "tool_use", id: `${n}`, name: "view", input: {} }],
      },
      { role: "tool", content: "x".repeat(4 * tokens), tool_call_id: `${n}` },
    );
  const numbers = messages.map((_, i) => i + 1);
  return unitsOf(messages, {
    numbers,
    view: { put: null, keep: [], clears: [], tailFrom: 1 },
  } as unknown as ViewState);
}

test("notes are begun at 10,000 tokens, and written anew after 5,000 more with three calls", () => {
  const notes = new SessionNotes();
  expect(notes.isDue(units(1, 4))).toBe(false);
  expect(notes.isDue(units(1, 5))).toBe(true);
  expect(notes.take(NOTES, 11)).toBeUndefined();
  expect(notes.isDue(units(1, 5))).toBe(false);
  expect(notes.isDue(units(1, 7, 2_600))).toBe(false);
  expect(notes.isDue(units(1, 8))).toBe(true);
  expect(notes.isDue(units(1, 8, 100))).toBe(false);
});

test("an answer that is empty, without headings or too long is not used, and after three nobody is asked", () => {
  const notes = new SessionNotes();
  for (const text of ["", "all is well", `## Goal: ${"x".repeat(60_000)}`])
    expect(notes.take(text, 3)).toMatch(/they have/);
  expect(notes.isDue(units(1, 9))).toBe(false);
  expect(notes.summary(units(1, 9), 1)).toBeUndefined();
  expect(new SessionNotes(notes.state).isDue(units(1, 9))).toBe(false);
});

test("what stays behind them is what they say nothing of, and grows to 10,000 tokens and five texts, at most 40,000", () => {
  const notes = new SessionNotes();
  notes.take(NOTES, 41);
  const tail = (of: readonly Unit[], scale = 1) => notes.summary(of, scale)?.tail ?? 0;
  // without texts it grows up to its most
  expect(tail(units(1, 30))).toBeGreaterThan(38_000);
  expect(tail(units(1, 30))).toBeLessThanOrEqual(40_000);
  const talk = unitsOf(
    Array.from(
      { length: 60 },
      (_, n): ContextMessage => ({ role: "user", content: `${n} ${"x".repeat(4_000)}` }),
    ),
    {
      numbers: Array.from({ length: 60 }, (_, n) => n + 1),
      view: { put: null, keep: [], clears: [], tailFrom: 1 },
    } as unknown as ViewState,
  );
  // nineteen messages of a thousand tokens came after them
  expect(notes.summary(talk, 1)).toMatchObject({ text: NOTES, from: 42 });
  expect(tail(talk)).toBe(talk.slice(41).reduce((sum, { tokens }) => sum + tokens, 0));
  notes.take(NOTES, 58);
  expect(tail(talk)).toBeGreaterThanOrEqual(10_000);
  expect(tail(talk)).toBeLessThan(12_000);
  notes.reset();
  expect([notes.summary(talk, 1), notes.state]).toEqual([undefined, undefined]);
});
