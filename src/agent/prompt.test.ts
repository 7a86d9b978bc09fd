import { expect, test } from "vitest";
import { environmentText } from "./prompt.ts";

test("environmentText() tells the folder, the local day and the platform", () => {
  const nowMs = new Date(2026, 0, 5, 23, 59).getTime();
  expect(environmentText({ cwd: "/a b", nowMs, platform: "linux" })).toBe(
    "Working directory: /a b\nDate: 2026-01-05\nPlatform: linux",
  );
});
