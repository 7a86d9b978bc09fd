import { expect, test } from "vitest";
import { globMatcher } from "./glob.ts";

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "src/deep/a.ts", true],
  ["*.ts", "a.tsx", false],
  ["/*.ts", "a.ts", true],
  ["/*.ts", "src/a.ts", false],
  ["./src/*.ts", "src/a.ts", true],
  ["src/**", "src/deep/a.ts", true],
  ["src/**", "lib/src/a.ts", false],
  ["**/*", ".github/ci.yml", true],
  ["*.{ts,md}", "x/README.md", true],
  ["[ab].ts", "b.ts", true],
])("globMatcher(%s) on %s: %s", (glob, path, expected) => {
  expect(globMatcher(glob)(path)).toBe(expected);
});

test.each(["", "[", "{a,b", "a".repeat(1_001)])("globMatcher() refuses %j", (glob) => {
  expect(() => globMatcher(glob)).toThrow(expect.objectContaining({ code: "INVALID" }));
});
