import { expect, test } from "vitest";
import { slashLine } from "./slash.ts";

test.each([
  ["/deploy", { name: "deploy", args: "" }],
  ["  /deploy  to staging\nnow ", { name: "deploy", args: "to staging\nnow" }],
  ["/team:release-notes v2", { name: "team:release-notes", args: "v2" }],
  ["//deploy", undefined],
  ["/etc/hosts is odd", undefined],
  ["/", undefined],
  ["deploy /now", undefined],
])("slashLine(%j) is %j", (text, line) => {
  expect(slashLine(text)).toEqual(line);
});
