/** What a model may pin, and what it is shown of its own view. */
import { describe, expect, test } from "vitest";
import type { ViewState } from "../../abi/context.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { OwnPins, segmentsText } from "./own-view.ts";

const messages: readonly ContextMessage[] = [
  { role: "user", content: "Read\nit." },
  { role: "assistant", content: "", blocks: [{ type: "tool_use", id: "a", name: "view", input: {} }] },
  { role: "tool", content: "line ".repeat(2_000), tool_call_id: "a" },
  { role: "assistant", content: "Done." },
];
const state = (pins: readonly number[] = []): ViewState => ({
  ...{ head: 0, records: 24, undoable: 0, pins },
  view: { put: null, keep: [[1, 1]], clears: [], tailFrom: 21 },
  numbers: [1, 21, 22, 23],
});

describe("OwnPins", () => {
  test("pins what is not pinned yet, a text once, and keeps which are its own", () => {
    const own = new OwnPins([21]);
    const inView = { state: state([1, 21]), messages };
    expect(own.wanted(inView, [1, 23, 23], "a note")).toEqual([23, "a note"]);
    const told = [...messages.slice(0, 3), { role: "user", content: "a note" } as const];
    expect(new OwnPins([23]).wanted({ state: state([23]), messages: told }, [], "a note")).toEqual([]);
  });

  test("has at most 8 of 4,000 tokens together; what the user has pinned or unpinned does not count", () => {
    const numbers = Array.from({ length: 8 }, (_, i) => i + 2);
    const own = new OwnPins(numbers);
    const budget = (words: string) =>
      expect.objectContaining({ code: "BUDGET", message: expect.stringContaining(words) });
    expect(() => own.wanted({ state: state(numbers), messages }, [23], undefined)).toThrow(budget("8 pins"));
    expect(own.wanted({ state: state(numbers.slice(1)), messages }, [23], undefined)).toEqual([23]);
    const long = "x".repeat(8_000);
    expect(new OwnPins().wanted({ state: state([22]), messages }, [], long)).toEqual([long]);
    expect(() => new OwnPins([22]).wanted({ state: state([22]), messages }, [], long)).toThrow(
      budget("4000"),
    );
  });

  test("takes off only its own", () => {
    const own = new OwnPins([21]);
    const code = (wanted: string) => expect.objectContaining({ code: wanted });
    expect(() => own.checkOff(state([1, 21]), [21, 1])).toThrow(code("PERMISSION"));
    expect(() => own.checkOff(state([1]), [21])).toThrow(code("NOT_FOUND"));
    own.checkOff(state([21]), [21]);
  });
});

test("segmentsText() lists the largest first, with number, kind, age and beginning", () => {
  const told = segmentsText(
    { state: state([1]), messages },
    { used: 3_000, effective: 30_000, warn: 20_000, auto: null },
  );
  const [head, , first, ...rest] = told.split("\n");
  expect(head).toBe("About 3000 of 30000 tokens of the window are used.");
  expect(first).toMatch(/^22 {2}result of view {2}\d{4} {2}1 {2}line line/);
  expect(rest.map((row) => row.split("  ").filter((_, i) => i !== 2))).toEqual(
    expect.arrayContaining([
      ["21", "reply", "1", "view"],
      ["1", "pinned", "2", "Read it."],
      ["23", "reply", "0", "Done."],
    ]),
  );
});
