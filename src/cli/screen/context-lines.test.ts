import { describe, expect, test } from "vitest";
import { METHOD_DOCS } from "../../abi/docs/methods.ts";
import { contextLines } from "./context-lines.ts";
import { PLAIN } from "./text/paint.ts";
import { widthOf } from "./text/width.ts";

const found = METHOD_DOCS["context.stat"].result;
const lines = (room: number | undefined, more: Partial<typeof found> = {}) =>
  contextLines({ ...found, ...more }, { room, paint: PLAIN });

describe("contextLines()", () => {
  test("tells the window, what each part costs, when the view is shortened and how it was", () => {
    const text = lines(undefined).join("\n");
    expect(text).toContain("31,200 of 180,000 tokens used (17%)");
    expect(text).toMatch(/tool results +18,300 +59% +█+/);
    expect(text).toMatch(/summary written, ~168,100 tokens before, ~24,800 after: the window was filling up/);
    expect(text).toContain("The model sees 23 of 214 messages");
    expect(text).not.toContain("memory");
  });

  test("says who left messages out", () => {
    const move = { ...found.moves[0]!, layer: "snip" as const };
    const text = lines(undefined, { moves: [move, { ...move, trigger: "manual" }] }).join("\n");
    expect(text).toMatch(/messages left out, .* after: the model asked for it\n.* after: you asked for it/);
  });

  test("shows how much the user wants the run to write", () => {
    const text = lines(undefined, { target: { aim: 500_000, spent: 312_000 } }).join("\n");
    expect(text).toContain("Target of its run: 500,000 output tokens, 312,000 written.");
  });

  test("marks estimates, a full window, and compaction that has stopped", () => {
    const text = lines(undefined, { exact: false, level: "blocked", breaker: "failures" }).join("\n");
    expect(text).toContain("~31,200 of");
    expect(text).toContain("The window is full.");
    expect(text).toContain("three in a row failed");
  });

  test("fits 40 columns", () => {
    for (const line of lines(40)) expect(widthOf(line)).toBeLessThanOrEqual(40);
  });
});
