import { expect, test } from "vitest";
import { localDay } from "./local-day.ts";

test("localDay() is the day where we are, to its last minute", () => {
  expect(localDay(new Date(2026, 0, 5, 23, 59).getTime())).toBe("2026-01-05");
  expect(localDay(new Date(2026, 10, 30, 0, 0).getTime())).toBe("2026-11-30");
});
