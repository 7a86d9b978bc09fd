import { describe, expect, test } from "vitest";
import { parseManifest } from "./manifest.ts";

function parse(text: string) {
  const warnings: string[] = [];
  const { contextBudget, budget } = parseManifest(`name: x\n${text}`, (message) => warnings.push(message));
  return { contextBudget, budget, warnings };
}

describe("budget of an agent file", () => {
  test.each([
    ["", { contextBudget: 0, budget: undefined }],
    ["budget: { tokens: 900 }", { contextBudget: 900, budget: undefined }],
    ["budget: { usd: 0.5, wallMs: 60000 }", { contextBudget: 0, budget: { usd: 0.5, wallMs: 60_000 } }],
    [
      "context_budget: 7\nbudget: { steps: 3, depth: 0, children: 2, concurrent: 1 }",
      { contextBudget: 7, budget: { steps: 3, depth: 0, children: 2, concurrent: 1 } },
    ],
  ])("%j is read", (text, read) => {
    expect(parse(text)).toEqual({ ...read, warnings: [] });
  });

  test.each([
    ["budget: 5", "budget must be a mapping"],
    ["budget: { tokens: 0 }", "budget.tokens must be at least 1"],
    ["budget: { tokens: many }", "tokens must be a whole number"],
    ["budget: { usd: 0 }", "budget.usd must be an amount"],
    ["budget: { usd: lots }", "budget.usd must be an amount"],
    ["budget: { depth: -1 }", "budget.depth must be at least 0"],
    ["context_budget: 5\nbudget: { tokens: 5 }", "context_budget are the same"],
  ])("%j is INVALID: %s", (text, words) => {
    expect(() => parse(text)).toThrow(words);
  });

  test("a key that does nothing is told", () => {
    expect(parse("budget: { usdd: 5 }").warnings).toEqual([
      "agent.yaml:2: unknown key 'budget.usdd' (did you mean usd?)",
    ]);
  });
});
