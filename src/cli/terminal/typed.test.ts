import fc from "fast-check";
import { expect, test } from "vitest";
import { editable, said, type Typed, TypedReader } from "./typed.ts";

const read = (...chunks: readonly string[]): Typed[] => {
  const reader = new TypedReader();
  return chunks.flatMap((chunk) => reader.take(Buffer.from(chunk)));
};

test("TypedReader gives keys one by one, and text that came at once as one", () => {
  expect(read("a")).toEqual([{ kind: "key", text: "a" }]);
  expect(read("\x1b[A\x1b[1;5D\x1bb\x1b")).toEqual(
    ["\x1b[A", "\x1b[1;5D", "\x1bb", "\x1b"].map((text) => ({ kind: "key", text })),
  );
  expect(read("go on\r你好")).toEqual([
    { kind: "run", text: "go on" },
    { kind: "key", text: "\r" },
    { kind: "run", text: "你好" },
  ]);
});

test("TypedReader gives Alt-Enter as a line break that sends nothing", () => {
  expect(read("\x1b\r")).toEqual([{ kind: "break", text: "\n" }]);
});

test("TypedReader gives what was pasted as one, wherever the terminal cuts it; the last line breaks are no part of it", () => {
  const sent = Buffer.from("x\x1b[200~first\rsecond 你\x1b[A\r\n\x1b[201~y");
  const expected = [
    { kind: "key", text: "x" },
    { kind: "pasted", text: "first\rsecond 你\x1b[A" },
    { kind: "key", text: "y" },
  ];
  fc.assert(
    fc.property(fc.array(fc.nat(sent.length), { maxLength: 6 }), (cuts) => {
      // an Esc that comes alone is the key
      const at = [...new Set(cuts)].filter((cut) => cut !== 2).sort((a, b) => a - b);
      const chunks = [...at, sent.length].map((to, index) => sent.subarray(at[index - 1] ?? 0, to));
      const reader = new TypedReader();
      expect(chunks.flatMap((chunk) => reader.take(chunk))).toEqual(expected);
    }),
  );
});

test("TypedReader keeps a paste without an end within its bound, and what follows the end is typed", () => {
  const reader = new TypedReader();
  reader.take(Buffer.from("\x1b[200~"));
  for (let n = 0; n < 30; n++) expect(reader.take(Buffer.alloc(100_000, "z"))).toEqual([]);
  const [pasted, key] = reader.take(Buffer.from("\x1b[201~k"));
  expect(pasted?.text).toHaveLength(1_000_000);
  expect(key).toEqual({ kind: "key", text: "k" });
});

test("editable() makes one line of text that said() gives back, and leaves out what steers a terminal", () => {
  expect(editable("a\r\nb\rc\x1b[2J\td")).toBe("a␤b␤c[2J\td");
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z 你\t]*$/u), { minLength: 1 }), (lines) => {
      const line = editable(lines.join("\n"));
      expect(line).not.toMatch(/[\r\n]/);
      expect(said(line)).toBe(lines.join("\n"));
    }),
  );
});
