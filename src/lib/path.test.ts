import { expect, test } from "vitest";
import { isWithin } from "./path.ts";

test.each([
  ["/desk", "/desk", true],
  ["/desk", "/desk/a/b", true],
  ["/desk/", "/desk/a", true],
  ["/", "/desk", true],
  ["/", "/", true],
  ["/desk", "/desk2", false],
  ["/desk/a", "/desk", false],
  ["/desk", "/", false],
  ["/desk", "work/a", false],
])("isWithin(%j, %j) is %s", (base, path, isIt) => {
  expect(isWithin(base, path)).toBe(isIt);
});
