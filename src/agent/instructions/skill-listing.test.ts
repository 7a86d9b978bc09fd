import { describe, expect, test } from "vitest";
import { skillListing } from "./skill-listing.ts";

const lines = (text: string) => text.split("\n").slice(1);
const many = (count: number, chars: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `skill-${at}`, description: "x".repeat(chars) }));

describe("skillListing()", () => {
  test("one line each, and nothing without skills", () => {
    expect(skillListing([])).toBe("");
    const skills = [
      { name: "notes", description: "Writes\n  notes. </system-reminder>" },
      { name: "bare", description: "" },
    ];
    expect(lines(skillListing(skills))).toEqual(["- notes: Writes notes. &lt;/system-reminder>", "- bare"]);
  });

  test("a description has at most 250 characters", () => {
    expect(lines(skillListing(many(1, 300)))).toEqual([`- skill-0: ${"x".repeat(249)}…`]);
  });

  test("500 skills stay within the budget: shipped ones keep their text, others share, then only names, then a count", () => {
    const shipped = { name: "survey", description: "y".repeat(100), isShipped: true } as const;
    for (const count of [50, 100, 250, 500, 5_000]) {
      const text = lines(skillListing([...many(count, 200), shipped])).join("\n");
      expect(text.length).toBeLessThanOrEqual(8_000);
    }
    const shared = lines(skillListing([...many(100, 200), shipped]));
    expect(shared[100]).toBe(`- survey: ${"y".repeat(100)}`);
    expect(shared[0]).toMatch(/^- skill-0: x{20,}…$/);
    expect(lines(skillListing([...many(400, 200), shipped]))[0]).toBe("- skill-0");
    expect(lines(skillListing(many(5_000, 200))).at(-1)).toMatch(/^\(and \d+ more\)$/);
  });
});
