import fc from "fast-check";
import { expect, test } from "vitest";
import { PrintedText } from "./printed-text.ts";

/** All of it, in parts of the given sizes. */
function printed(text: string, ...sizes: number[]): string {
  const screen = new PrintedText();
  const bytes = Buffer.from(text);
  const parts: Uint8Array[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? bytes.length;
    parts.push(screen.push(bytes.subarray(at, at + size)));
    at += size;
  }
  parts.push(screen.end());
  return Buffer.concat(parts).toString();
}

test.each([
  ["plain text, tabs\tand lines\n", "plain text, tabs\tand lines\n"],
  ["\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mx\x1b[m\n", "red x\n"],
  ["\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "alink\n"],
  ["\x1bPq#0;2\x1b\\sixel\x1b(B\x1b7\x1b8\x1b=\n", "sixel\n"],
  ["10%\r50%\r100%\ndone", "100%\ndone"],
  ["building...\rok\x1b[K\n", "ok\n"],
  ["building\r\x1b[2Kok\n", "ok\n"],
  ["abc\rX\n", "Xbc\n"],
  ["one\r\ntwo\r\r\n", "one\ntwo\n"],
  ["\x1b[1Gab\x1b[2D\x1b[Kc\n", "c\n"],
  ["N\bNA\bA_\bM |\b/\b-\b\\\n", "NAM \\\n"],
  ["ding\x07\x0e\x0f\n", "ding\n"],
  ["a\0b\0\n", "a\\x00b\\x00\n"],
  ["\x7f\x01\u0085\n", "\\x7f\\x01\\x85\n"],
  ["lost \x1b\n and \x1b[", "lost \n and "],
  ["\x1b]never ends\nnext line\n", "\nnext line\n"],
  ["a\x1b[3Cb\n", "a   b\n"],
])("PrintedText shows %j as a terminal would", (text, shown) => {
  expect(printed(text)).toBe(shown);
});

test("PrintedText gives the same however its input is cut", () => {
  const piece = fc.constantFrom(
    "a",
    "é",
    "😀",
    "\n",
    "\r",
    "\b",
    "\0",
    "\x1b[31m",
    "\x1b[K",
    "\x1b[2K",
    "\x1b]0;t\x07",
    "\x1b]8;;u\x1b\\",
    "\x1b(B",
    "\x1b[2A",
    "\x1b",
    "word ",
  );
  const texts = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(texts, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (text, sizes) => {
      const whole = printed(text);
      expect(printed(text, ...sizes)).toBe(whole);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
      expect(whole).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f]/);
    }),
  );
});

test("PrintedText: what was asked for stays, and what would be printed over it begins a line", () => {
  const screen = new PrintedText();
  const told = [screen.push(Buffer.from("10%")), screen.flush(), screen.push(Buffer.from("\r20%\r30%\n"))];
  expect(told.map(String)).toEqual(["", "10%", "\n30%\n"]);
});

test("PrintedText holds a line only so long", () => {
  const screen = new PrintedText();
  expect(screen.push(Buffer.alloc(70_000, "x")).byteLength).toBe(70_000);
  expect(String(screen.push(Buffer.from("y\n")))).toBe("y\n");
  // a string without an end is not kept at all
  for (let i = 0; i < 100; i++)
    expect(screen.push(Buffer.from(`\x1b]${"z".repeat(10_000)}`))).toHaveLength(0);
});

test("PrintedText notes what a reader must know", () => {
  const noteOf = (text: string) => {
    const screen = new PrintedText();
    screen.push(Buffer.from(text));
    return screen.note;
  };
  expect(noteOf("\x1b[31mred\x1b[0m\r\n")).toBe("");
  expect(noteOf("a\0b\0")).toBe("control characters are shown by their number, such as \\x00: 2 of them");
  expect(noteOf("\x1b[2J\x1b[Htop")).toContain("moved the cursor");
});
