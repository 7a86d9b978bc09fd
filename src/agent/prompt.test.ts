import { expect, test } from "vitest";
import { environmentText } from "./prompt.ts";

test("environmentText() tells the folder, the day and the platform", () => {
  expect(environmentText({ cwd: "/a b", day: "2026-01-05", platform: "linux" })).toBe(
    "Working directory: /a b\nDate: 2026-01-05\nPlatform: linux",
  );
});
