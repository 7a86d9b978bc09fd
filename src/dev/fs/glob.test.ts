import { expect, test } from "vitest";
import { depthOf, globFilter } from "./glob.ts";

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
  ["caf\u00e9/?.md", "cafe\u0301/e\u0301.md", true],
  ["app/[id].tsx", "app/[id].tsx", true],
])("globFilter(%s) on %s: %s", (glob, path, expected) => {
  expect(globFilter(glob)([path])).toEqual(expected ? [path] : []);
});

test.each(["", "[", "{a,b", "a".repeat(1_001)])("globFilter() refuses %j", (glob) => {
  expect(() => globFilter(glob)).toThrow(expect.objectContaining({ code: "INVALID" }));
});

test("globFilter() gives up a glob that would hold the thread for hours", () => {
  const filter = globFilter(`${"*a".repeat(12)}b`);
  expect(filter(["aab", "x"])).toEqual([]);
  expect(() => filter(["a".repeat(200)])).toThrow(expect.objectContaining({ code: "TIMEOUT" }));
});

test.each([
  ["/host*", 1],
  ["./a/*.ts", 2],
  ["src/*/x", 3],
  ["*.ts", undefined],
  ["src/**/x", undefined],
  ["/{a,b/c}", undefined],
])("depthOf(%j) is %j", (glob, depth) => {
  expect(depthOf(glob)).toBe(depth);
});
