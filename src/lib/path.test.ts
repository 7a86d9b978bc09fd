import { expect, test } from "vitest";
import { isWithin } from "./path.ts";

test.each([
  ["/work", "/work", true],
  ["/work", "/work/a/b", true],
  ["/work/", "/work/a", true],
  ["/", "/work", true],
  ["/", "/", true],
  ["/work", "/work2", false],
  ["/work/a", "/work", false],
  ["/work", "/", false],
  ["/work", "work/a", false],
])("isWithin(%j, %j) is %s", (base, path, isIt) => {
  expect(isWithin(base, path)).toBe(isIt);
});
