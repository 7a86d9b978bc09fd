import { expect, test } from "vitest";
import { en } from "../../cli/screen/words/en.ts";
import { type Line, plain } from "../text/line.ts";
import { themeOf } from "../text/theme.ts";
import type { EntryLook } from "../view/entry-lines.ts";
import { DialogBox } from "./dialog-box.ts";
import { Overlay } from "./overlay.ts";

test("a question that arrives behind a view is named in its last line, and takes no key of the first 250 ms it is seen", () => {
  const clock = { now: 10_000 };
  const written: string[] = [];
  const box = new DialogBox(
    () => ({ columns: 40, rows: 20 }),
    () => clock.now,
    () => {},
  );
  const look = { theme: themeOf("dark", "none"), width: 39, words: en, isUnfolded: false } as EntryLook;
  const overlay = new Overlay(
    { write: (text) => written.push(String(text)) > 0 },
    { look, size: { columns: 40, rows: 2 }, box, changed: () => {} },
  );
  const lines: readonly Line[] = [plain("the transcript"), plain("esc back · / search · g start")];
  overlay.open({ lines: () => lines, press: () => false });
  expect(written.join("")).not.toContain("waits");
  box.keys.on("data", () => {});
  box.output.write("allow it? ", () => {});
  overlay.draw();
  expect(written.at(-1)).toContain("\x1b[2;1H");
  expect(written.at(-1)).toContain("! a question waits: esc · ");
  expect(written.at(-1)).toContain("esc back · /…");
  clock.now += 5_000;
  expect(box.isSettled(false)).toBe(true);
  overlay.press({ kind: "key", name: "escape" });
  expect([overlay.isOpen, box.isSettled(false)]).toEqual([false, false]);
  clock.now += 250;
  expect(box.isSettled(false)).toBe(true);
});
