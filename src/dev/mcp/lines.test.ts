import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./lines.ts";
import { ServerLog, Tail } from "./service.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("LineSplitter gives the lines however the bytes are cut", () => {
  const line = fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => text.replaceAll(/[\r\n]/g, ""));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.array(fc.nat(9), { maxLength: 40 }), (lines, cuts) => {
      const splitter = new LineSplitter(1_000);
      const all = bytes(lines.map((each, i) => `${each}${i % 2 === 0 ? "\n" : "\r\n"}`).join(""));
      const found: string[] = [];
      let at = 0;
      for (const cut of [...cuts, all.byteLength]) {
        found.push(...(splitter.push(all.subarray(at, at + cut)) ?? ["too long"]));
        at += cut;
      }
      expect(found).toEqual(lines);
    }),
    { numRuns: 10_000 },
  );
});

test("LineSplitter takes a line of just so many bytes, and none longer", () => {
  expect(new LineSplitter(4).push(bytes("abcd\nefgh\n"))).toEqual(["abcd", "efgh"]);
  expect(new LineSplitter(4).push(bytes("abcde\n"))).toBeNull();
  const slow = new LineSplitter(1_000);
  for (let i = 0; i < 1_000; i++) expect(slow.push(bytes("x"))).toEqual([]);
  expect(slow.push(bytes("x"))).toBeNull();
});

test("Tail keeps the last bytes, on one line, without what moves a terminal", () => {
  const tail = new Tail(18);
  expect(tail.words(100)).toBe("");
  for (const text of ["a long way before ", "\u001b[31mred\u001b[0m\n", "the end\r\n\n"])
    tail.push(bytes(text));
  expect(tail.words(100)).toBe("red the end");
  expect(tail.words(9)).toBe("… the end");
});

test("ServerLog says so much and no more", () => {
  const said: string[] = [];
  const log = new ServerLog((level, message) => said.push(`${level}: ${message}`));
  log.stderr(bytes("one\ntwo"));
  log.stderr(bytes("\n\n"));
  log.garbage("no message");
  log.garbage("  ");
  expect(said).toEqual(["info: one", "info: two", "warn: not a message, dropped: no message"]);
  for (let i = 0; i < 3_000; i++) log.stderr(bytes(`${"x".repeat(600)}\n`));
  expect(said).toHaveLength(1_001);
  expect(said.at(-1)).toBe("warn: it prints a lot: no more of it is logged");
  expect(said[10]).toHaveLength("info: ".length + 501);
});
