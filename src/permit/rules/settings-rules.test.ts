import { expect, test } from "vitest";
import { findMode } from "./mode.ts";
import { rulesFromSettings } from "./settings-rules.ts";

test("rulesFromSettings() gives each rule with its source and behavior", () => {
  const permissions = { allow: ["a"], ask: ["b"], deny: ["c"], drop_defaults: ["d"] };
  const rules = rulesFromSettings({ permissions }, "localSettings");
  expect(rules.map(({ behavior, text }) => [behavior, text])).toEqual([
    ["deny", "c"],
    ["ask", "b"],
    ["allow", "a"],
    ["drop", "d"],
  ]);
  expect(new Set(rules.map(({ source }) => source))).toEqual(new Set(["localSettings"]));
  expect(rulesFromSettings({}, "userSettings")).toEqual([]);
});

test("findMode() reads both spellings and nothing else", () => {
  expect(["default", "acceptEdits", "accept_edits", "bypassPermissions"].map(findMode)).toEqual([
    "default",
    "accept_edits",
    "accept_edits",
    "bypass",
  ]);
  expect(findMode("toString")).toBeUndefined();
});
