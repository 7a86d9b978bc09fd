import { expect, test } from "vitest";
import { PROJECT_NAME, projectNameOf } from "./name.ts";

test.each([
  ["/desk/notes", "notes"],
  ["/desk/Release Notes", "release-notes"],
  ["/desk/2024-notes/", "notes"],
  ["/desk/über_uns!", "ber_uns"],
  ["/desk/2024", "project"],
  ["/", "project"],
  [`/desk/${"a".repeat(63)}-b`, "a".repeat(63)],
])("projectNameOf(%s) is %s", (dir, name) => {
  expect(projectNameOf(dir)).toBe(name);
  expect(name).toMatch(PROJECT_NAME);
});
