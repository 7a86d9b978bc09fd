import { expect, test } from "vitest";
import { resultBox } from "./result-box.ts";
import { widthOf } from "./text/width.ts";

test("resultBox() is the box of the manual", () => {
  expect(resultBox("分析结果内容...")).toBe(
    [
      "══ Result ══════════════════════════════════════════════════════════════════════",
      "  分析结果内容...",
      "════════════════════════════════════════════════════════════════════════════════",
    ].join("\n"),
  );
});

test("resultBox() indents lines with text, keeps empty ones empty, and drops trailing newlines", () => {
  const long = "x".repeat(200);
  const [head, ...rest] = resultBox(`a\n\n  b\n${long}\n\n\n`).split("\n");
  expect(rest).toEqual(["  a", "", "    b", `  ${long}`, "═".repeat(80)]);
  expect(widthOf(head ?? "")).toBe(80);
});

test("resultBox() lets no escape sequence through", () => {
  expect(resultBox("\x1b[2Jgone")).toContain("  \\x1b[2Jgone");
});

test.each([40, 7, 80, 200])(
  "resultBox() has rules of at most 80 columns, and of the terminal's %i",
  (columns) => {
    const [head = "", , foot = ""] = resultBox("a", columns).split("\n");
    expect([widthOf(head), widthOf(foot)]).toEqual([Math.min(80, columns), Math.min(80, columns)]);
  },
);
