import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agedBefore } from "./age-check.ts";

const DAY = 24 * 3600 * 1000;
const WEEK = 7 * DAY;
const NOW = 1_700_000_000_000;
let dir = "";
let path = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-age-"));
  path = join(dir, "checked");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("agedBefore()", () => {
  it("lets nothing go at the first check, nor again on the same day; then by the date of the check before", () => {
    expect(agedBefore(path, NOW, WEEK)).toBe(0);
    expect(agedBefore(path, NOW + 3600_000, WEEK)).toBe(0);
    expect(agedBefore(path, NOW + DAY, WEEK)).toBe(NOW - WEEK);
    expect(agedBefore(path, NOW + 30 * DAY, WEEK)).toBe(NOW + DAY - WEEK);
  });

  it("a clock that is ten years ahead takes nothing that was not old before, and set right takes nothing", () => {
    agedBefore(path, NOW, WEEK);
    expect(agedBefore(path, NOW + 3650 * DAY, WEEK)).toBe(NOW - WEEK);
    expect(agedBefore(path, NOW + DAY, WEEK)).toBe(0);
    expect(agedBefore(path, NOW + 2 * DAY, WEEK)).toBe(NOW + DAY - WEEK);
  });

  it("a clock that is ten years behind takes nothing", () => {
    agedBefore(path, NOW, WEEK);
    expect(agedBefore(path, NOW - 3650 * DAY, WEEK)).toBe(0);
    expect(agedBefore(path, NOW + DAY, WEEK)).toBe(NOW - 3650 * DAY - WEEK);
  });

  it("a date that cannot be read is none, and one that cannot be kept lets nothing go", () => {
    writeFileSync(path, "yesterday");
    expect(agedBefore(path, NOW, WEEK)).toBe(0);
    expect(agedBefore(join(dir, "none", "checked"), NOW, WEEK)).toBe(0);
  });
});
