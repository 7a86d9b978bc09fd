import { describe, expect, test } from "vitest";
import { chooseRule, isNarrower } from "./rule-choice.ts";

describe("isNarrower()", () => {
  test.each([
    ["bash(npm test:*)", "bash(npm test:*)"],
    ["bash(npm test:*)", "bash(npm test)"],
    ["bash(npm test:*)", "bash(npm test -- -u)"],
    ["bash(git commit *)", "bash(git commit -m *)"],
    ["edit(/desk/**)", "edit(/desk/src/**)"],
    ["edit(src/**)", "edit(src/a.ts)"],
    ["mcp__shop", "mcp__shop"],
    ["fetch(domain:a.org)", "fetch(domain:a.org)"],
  ])("of %s, %s is", (suggested, typed) => {
    expect(isNarrower(suggested, typed)).toBe(true);
  });

  test.each([
    ["bash(npm test:*)", "bash"],
    ["bash(npm test:*)", "bash(*)"],
    ["bash(npm test:*)", "bash(npm *)"],
    ["bash(npm test:*)", "bash(npm tests)"],
    ["bash(npm test)", "bash(npm test:*)"],
    ["bash(npm test:*)", "view(npm test)"],
    ["bash(npm test:*)", "bash(npm test\nrm x)"],
    ["edit(/desk/**)", "edit(/desk/../etc/**)"],
    ["edit(/desk/**)", "edit(/desk2/a)"],
    ["edit(/desk/a.ts)", "edit(/desk/**)"],
    ["bash(*)", "bash(rm *)"],
    ["bash(npm test:*)", `bash(npm test ${"x".repeat(1024)})`],
    ["bash(npm test:*)", "bash(npm test"],
  ])("of %s, %s is not", (suggested, typed) => {
    expect(isNarrower(suggested, typed)).toBe(false);
  });
});

test("chooseRule() takes the first suggestion, and only a place that was offered", () => {
  const rules = [{ rule: "edit(a)", destinations: ["session", "userSettings"] as const }];
  expect(chooseRule(rules, {})).toEqual({ rule: "edit(a)", destination: "session" });
  expect(chooseRule(rules, { destination: "projectSettings" })).toBeUndefined();
  expect(chooseRule([], {})).toBeUndefined();
});
