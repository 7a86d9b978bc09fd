import { expect, test } from "vitest";
import { plain } from "../text/line.ts";
import { AltScreen } from "./alt-screen.ts";

function aScreen() {
  const written: string[] = [];
  const undone: Array<() => void> = [];
  const screen = new AltScreen({ write: (text) => written.push(String(text)) > 0 }, (undo) => {
    undone.push(undo);
    return () => void undone.splice(undone.indexOf(undo), 1);
  });
  const taken = (): string => written.splice(0).join("");
  return { screen, undone, taken };
}

test("the whole screen is entered by the first who takes it, and left with the last", () => {
  const { screen, undone, taken } = aScreen();
  screen.enter();
  expect(taken()).toContain("\x1b[?1049h");
  screen.enter();
  screen.leave();
  expect([taken(), undone.length]).toEqual(["", 1]);
  // however the process ends
  undone[0]?.();
  expect(taken()).toContain("\x1b[?1049l");
  screen.leave();
  expect([taken().includes("\x1b[?1049l"), undone.length]).toEqual([true, 0]);
});

test("only what changed is written, and the cursor is where the frame has it or is hidden", () => {
  const { screen, taken } = aScreen();
  screen.enter();
  screen.draw([plain("one"), plain("two")], { row: 1, column: 3 });
  taken();
  screen.draw([plain("one"), plain("two")], { row: 1, column: 3 });
  expect(taken()).toBe("");
  screen.draw([plain("one"), plain("2")], { row: 1, column: 1 });
  expect(taken()).toBe("\x1b[?2026h\x1b[2;1H2\x1b[K\x1b[2;2H\x1b[?25h\x1b[?2026l");
  screen.draw([plain("one")]);
  expect(taken()).toBe("\x1b[?2026h\x1b[2;1H\x1b[J\x1b[?25l\x1b[?2026l");
});
