import fc from "fast-check";
import { expect, test } from "vitest";
import * as change from "./buffer.ts";
import { BLANK, type Buffer } from "./buffer.ts";

const typed = (text: string): Buffer => change.insert(BLANK, text);
const shown = ({ text, at }: Buffer): string => `${text.slice(0, at)}|${text.slice(at)}`;

test("the cursor moves by what a reader sees as one character", () => {
  const family = typed("a👨‍👩‍👧é");
  expect(shown(change.left(family))).toBe("a👨‍👩‍👧|é");
  expect(shown(change.left(change.left(family)))).toBe("a|👨‍👩‍👧é");
  expect(change.backspace(change.left(family)).text).toBe("aé");
});

test("words, lines and the kill buffer work as in a shell", () => {
  const two = typed("one two\nthree four");
  expect(shown(change.wordLeft(two))).toBe("one two\nthree |four");
  expect(shown(change.cutWordLeft(two))).toBe("one two\nthree |");
  expect(change.yank(change.cutToStart(two)).text).toBe("one two\nthree four");
  expect(shown(change.lineStart(two))).toBe("one two\n|three four");
  const above = change.up(two);
  expect(above && shown(above)).toBe("one two|\nthree four");
  expect(above && change.up(above)).toBeUndefined();
  expect(shown(change.cutToEnd(change.lineStart(two)))).toBe("one two\n|");
});

test("a long paste is a mark that the cursor passes at once and that is sent as its text", () => {
  const long = Array.from({ length: 42 }, (_, n) => `line ${n}`).join("\r\n");
  const pasted = change.insert(change.paste(typed("see "), long), " end");
  expect(pasted.text).toBe("see [Pasted text #1 +42 lines] end");
  expect(change.sentText(pasted)).toBe(`see ${long.replaceAll("\r\n", "\n")} end`);
  const before = change.left(change.left(change.left(change.left(pasted))));
  expect(shown(change.left(before))).toBe("see |[Pasted text #1 +42 lines] end");
  expect(change.backspace(before).text).toBe("see  end");
  expect(change.paste(BLANK, "short").text).toBe("short");
});

test("what is typed or pasted holds no control characters", () => {
  expect(change.insert(BLANK, "a\x1b[31mb\x07\tc\r\nd").text).toBe("a[31mb\tc\nd");
});

test("undo() goes back to where it began, whatever was done", () => {
  const acts = [
    ...[change.left, change.right, change.backspace, change.deleteRight, change.cutToEnd, change.cutWordLeft],
    ...[
      change.yank,
      (buffer: Buffer) => change.insert(buffer, "x y"),
      (buffer: Buffer) => change.insert(buffer, "世"),
    ],
  ];
  fc.assert(
    fc.property(fc.array(fc.nat(acts.length - 1), { maxLength: 40 }), (chosen) => {
      let buffer = BLANK;
      for (const at of chosen) buffer = acts[at]?.(buffer) ?? buffer;
      expect(buffer.at).toBeLessThanOrEqual(buffer.text.length);
      for (let n = 0; n <= chosen.length; n++) buffer = change.undo(buffer);
      expect(buffer.text).toBe("");
    }),
  );
});
