import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyChar } from "../../../lib/testing/any-char.ts";
import { plainLine, plainLines } from "./plain-text.ts";

describe("plainLine()", () => {
  test.each([
    ["\u202egnp.exe", "\\u202egnp.exe"],
    ["git statu\u200bs", "git statu\\u{200b}s"],
    ["ls\u00a0x", "ls\\u{a0}x"],
    ["ls\u3000x", "ls\\u{3000}x"],
    ["есho x", "\\u{435}\\u{441}ho x"],
    ["аре", "\\u{430}\\u{440}\\u{435}"],
    ["ｒｍ x", "\\u{ff52}\\u{ff4d} x"],
    ["a\x1b[2Kb", "a\\x1b[2Kb"],
    ["a\u3164b", "a\\u{3164}b"],
  ])("%j is shown as %j", (text, shown) => {
    expect(plainLine(text)).toBe(shown);
  });

  test.each(["naïve café", "исправь тест", "分析代码", "Ωmega μ".slice(6), "tab-free ascii ~!@#"])(
    "%j is what it looks like",
    (text) => {
      expect(plainLine(text)).toBe(text);
    },
  );
});

test("plainLines() leaves nothing that steers a terminal or has no shape", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyChar }), (text) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(plainLines(text)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\p{Cf}]/u);
    }),
  );
});
