import { describe, expect, it } from "vitest";
import { widthOf } from "../text/width.ts";
import { type Column, table } from "./table.ts";

interface Step {
  readonly step: number;
  readonly files: string;
  readonly words: string;
}

const COLUMNS: readonly Column<Step>[] = [
  { head: "STEP", align: "right", cell: ({ step }) => String(step) },
  { head: "FILES", align: "left", cell: ({ files }) => files },
  { head: "WORDS", align: "left", cell: ({ words }) => words },
];
const STEPS: readonly Step[] = [
  { step: 1, files: "", words: "Looking for the files of this folder." },
  { step: 12, files: "docs/LINES.md", words: "已写入 docs/LINES.md: 2 files" },
];

describe("table()", () => {
  it("cuts nothing where the output is not at a terminal", () => {
    const [head, rule, first] = table(COLUMNS, STEPS).split("\n");
    expect(head).toBe("STEP   FILES           WORDS");
    expect(rule).toBe(`────   ─────────────   ${"─".repeat(37)}`);
    expect(first).toBe("   1                   Looking for the files of this folder.");
  });

  it("cuts the last column at the edge of the terminal", () => {
    expect(table(COLUMNS, STEPS, 44)).toBe(
      [
        "STEP   FILES           WORDS",
        "────   ─────────────   ─────────────────────",
        "   1                   Looking for the file…",
        "  12   docs/LINES.md   已写入 docs/LINES.md…",
      ].join("\n"),
    );
  });

  it("shows each row as a block where the columns do not fit, without its empty cells", () => {
    expect(table(COLUMNS, STEPS, 30)).toBe(
      [
        "STEP   1",
        "WORDS  Looking for the files …",
        "",
        "STEP   12",
        "FILES  docs/LINES.md",
        "WORDS  已写入 docs/LINES.md: …",
      ].join("\n"),
    );
  });

  it("leaves extra columns out before it cuts a text to a few letters", () => {
    const extra: Column<Step> = { head: "SIZE", align: "right", isExtra: true, cell: () => "1234" };
    const columns = [...COLUMNS.slice(0, 2), extra, ...COLUMNS.slice(2)];
    expect(table(columns, STEPS, 50).split("\n")[0]).toBe("STEP   FILES           SIZE   WORDS");
    expect(table(columns, STEPS, 49).split("\n").slice(0, 3)).toEqual([
      "STEP   FILES           WORDS",
      "────   ─────────────   ──────────────────────────",
      "   1                   Looking for the files of …",
    ]);
  });

  it("is never wider than the terminal", () => {
    for (let room = 8; room < 80; room++)
      for (const line of table(COLUMNS, STEPS, room).split("\n"))
        expect(widthOf(line)).toBeLessThanOrEqual(room);
  });
});
