import fc from "fast-check";
import { expect, test } from "vitest";
import { replaceText } from "./replace.ts";

const once = (text: string, oldString: string, newString: string) =>
  replaceText(text, { oldString, newString, replaceAll: false });
const all = (text: string, oldString: string, newString: string) =>
  replaceText(text, { oldString, newString, replaceAll: true });

test("replaceText is literal", () => {
  expect(once("a.c abc", "a.c", "$&$1$$")).toEqual({ kind: "replaced", text: "$&$1$$ abc", count: 1 });
});

test("replaceText: none, many with the first five lines, all without overlap", () => {
  expect(once("abc", "x", "y")).toEqual({ kind: "none" });
  expect(once("x\nx\n\nx\nx\nx\nx\n", "x", "y")).toEqual({ kind: "many", lines: [1, 2, 4, 5, 6] });
  expect(all("aaaaa", "aa", "b")).toEqual({ kind: "replaced", text: "bba", count: 2 });
});

test("replaceText takes curly quotes for straight ones only without an exact match", () => {
  expect(once("say “hi”, it’s", '"hi", it\'s', "\"yo\", don't 'x'")).toEqual({
    kind: "replaced",
    text: "say “yo”, don’t ‘x’",
    count: 1,
  });
  expect(once('say "hi"', "“hi”", "“yo” ‘a’")).toEqual({ kind: "replaced", text: 'say "yo" ‘a’', count: 1 });
  expect(once('"a" “a”', '"a"', '"b"')).toEqual({ kind: "replaced", text: '"b" “a”', count: 1 });
  expect(once("“a” “a”", '"a"', '"b"')).toEqual({ kind: "many", lines: [1, 1] });
});

test("replaceText: a newline means CRLF where all lines end so, itself where they are mixed", () => {
  expect(once("a\r\nb\r\nc\r\n", "a\nb", "x\ny")).toEqual({
    kind: "replaced",
    text: "x\r\ny\r\nc\r\n",
    count: 1,
  });
  expect(once("a\r\nb\r\n", "a\r\nb", "x\r\ny\n")).toMatchObject({ text: "x\r\ny\r\n\r\n" });
  expect(once("a\r\nb\nc", "a\nb", "x")).toEqual({ kind: "none" });
  expect(once("a\r\nb\nc", "b\nc", "x\ny")).toMatchObject({ text: "a\r\nx\ny" });
});

test("replaceText leaves all text outside the match as it was", () => {
  const word = fc.string({
    unit: fc.constantFrom("a", "“", "'", "$", "\n", "\uFEFF", "é", "\r\n"),
    maxLength: 12,
  });
  fc.assert(
    fc.property(word, word, word, (before, after, newString) => {
      const text = `${before}<mark>${after}`;
      // the new string may take the file's line ends
      const crlf = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
      const expected = crlf ? newString.replaceAll(/\r?\n/g, "\r\n") : newString;
      expect(once(text, "<mark>", newString)).toMatchObject({ text: before + expected + after });
    }),
  );
});
