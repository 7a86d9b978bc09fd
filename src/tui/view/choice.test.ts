import { expect, test } from "vitest";
import { en } from "../../cli/screen/words/en.ts";
import type { Press } from "../editor/keys.ts";
import { lineWidth, textOf } from "../text/line.ts";
import { themeOf } from "../text/theme.ts";
import { type Choice, choiceKey, choiceLines, fitting, markedOf, UNFILTERED } from "./choice.ts";

const LOOK = { theme: themeOf("dark", "none"), words: en };
const ROWS = Array.from({ length: 30 }, (_, n) => ({ words: `row ${n} Parser`, text: `row ${n}` }));
const key = (name: string): Press => ({ kind: "key", name });
const pressed = (choice: Choice, ...presses: Press[]): Choice =>
  presses.reduce((now, press) => choiceKey(now, press, fitting(ROWS, now).length, 5) ?? now, choice);

test("words filter, arrows move within what fits, and the marked row follows", () => {
  const typed = pressed(UNFILTERED, { kind: "text", text: "pars" }, key("space"), {
    kind: "text",
    text: "2",
  });
  expect(fitting(ROWS, typed).map(({ text }) => text)).toEqual(["row 2", "row 12", ...tens(20, 10)]);
  expect(markedOf(fitting(ROWS, typed), pressed(typed, key("down")))).toMatchObject({ text: "row 12" });
  expect(pressed(typed, key("backspace")).filter).toBe("pars ");
  expect(pressed(UNFILTERED, key("end"), key("down")).at).toBe(29);
  expect(pressed(UNFILTERED, key("pagedown"), key("up"), key("pageup"), key("up")).at).toBe(0);
  expect(choiceKey(UNFILTERED, key("ctrl+x"), 1, 1)).toBeUndefined();
});

function tens(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `row ${from + n}`);
}

test.each([
  [80, 24],
  [40, 10],
])("the screen of %i columns and %i rows is filled exactly, around the marked row", (columns, rows) => {
  const scene = {
    title: "Pick",
    hint: "Enter",
    emptyText: "none",
    rows: ROWS,
    choice: { filter: "", at: 15 },
  };
  const lines = choiceLines({ ...scene, preview: ["x".repeat(30), "two"] }, { columns, rows }, LOOK);
  expect(lines).toHaveLength(rows);
  expect(Math.max(...lines.map(lineWidth))).toBeLessThan(columns);
  const texts = lines.map(textOf);
  expect(texts).toContain("❯ row 15");
  expect([texts[0], texts.at(-1)]).toEqual(["  Pick", "  Enter"]);
  expect(texts.at(-2)).toBe("  two");
  const none = choiceLines({ ...scene, rows: [], preview: undefined }, { columns, rows }, LOOK).map(textOf);
  expect([none.length, none[2]]).toEqual([rows, "  none"]);
});

test("a preview that is too long says how much more there is; one that is being read says so", () => {
  const scene = { title: "t", hint: "h", emptyText: "", rows: ROWS, choice: UNFILTERED };
  const many = Array.from({ length: 40 }, (_, n) => `line ${n}`);
  const size = { columns: 80, rows: 24 };
  const texts = choiceLines({ ...scene, preview: many }, size, LOOK).map(textOf);
  expect(texts.at(-2)).toBe("  … 30 lines more");
  expect(
    choiceLines({ ...scene, preview: undefined }, size, LOOK)
      .map(textOf)
      .at(-2),
  ).toBe("  …");
});
