import { expect, test, vi } from "vitest";
import { cutToWidth, padToWidth, widthOf, wrapped } from "./width.ts";

test("widthOf() counts wide characters and emoji two, marks none", () => {
  expect(widthOf("abc")).toBe(3);
  expect(widthOf("分析代码")).toBe(8);
  expect(widthOf("e\u0301")).toBe(1);
  expect(widthOf("한글")).toBe(4);
  expect(widthOf("👩‍👩‍👧")).toBe(2);
  expect(widthOf("—…")).toBe(2);
});

test("cutToWidth() keeps what fits and counts the mark", () => {
  expect(cutToWidth("exactly-15-wide", 15)).toBe("exactly-15-wide");
  expect(cutToWidth("sixteen-letters!", 15)).toBe("sixteen-letter…");
  // 14 columns are left: seven wide characters fit, half of the eighth would not
  expect(cutToWidth("分析代码检查依赖项", 15)).toBe("分析代码检查依…");
  expect(cutToWidth("a分析代码检查依赖", 15)).toBe("a分析代码检查…");
});

test("padToWidth() fills by columns, not by characters", () => {
  expect(padToWidth("分析", 6)).toBe("分析  ");
  expect(padToWidth("longer", 3)).toBe("longer");
});

test("a character counts the same whether it stands alone or beside one that the segmenter is needed for", () => {
  const all = Array.from({ length: 0x1000 }, (_, n) => String.fromCharCode(n + 0x2000));
  const different = all.filter((each) => widthOf(each) !== widthOf(`${each} 分`) - 3);
  expect(different.map((each) => each.charCodeAt(0).toString(16))).toEqual([]);
});

test("widthOf() asks no segmenter for the characters of our own screens", () => {
  const segment = vi.spyOn(Intl.Segmenter.prototype, "segment");
  try {
    expect(widthOf("› ─── ○ ● ∴ ∙ ✓ ✗ ‖ ⋯ ↑↓ · …")).toBe(28);
    expect(segment).not.toHaveBeenCalled();
  } finally {
    segment.mockRestore();
  }
});

test("wrapped() breaks at blanks and between wide characters, and leaves nothing out", () => {
  expect(wrapped("  two words here", 12)).toEqual(["  two words", "    here"]);
  expect(wrapped("未经信任，Agent 仍可在此工作。", 12)).toEqual([
    "未经信任，",
    "  Agent 仍可",
    "  在此工作。",
  ]);
  expect(wrapped("分析代码检查，依赖", 12)).toEqual(["分析代码检", "  查，依赖"]);
});
