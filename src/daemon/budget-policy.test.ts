import { expect, test } from "vitest";
import { Settings } from "../abi/settings/settings.ts";
import { budgetPolicy } from "./budget-policy.ts";

const policy = (settings: object) => budgetPolicy(Settings.parse({ costReminderUsd: 0, ...settings }));

test("budgetPolicy() takes limits, windows and what happens at them", () => {
  expect(policy({})).toEqual({ defaults: {}, windows: [] });
  expect(
    policy({
      budget: { usd: 5, steps: 9, windows: [{ usd: 20, per: "1d" }], onLimit: "fail" },
      maxBudgetUsd: 7,
    }),
  ).toEqual({
    defaults: { usd: 5, steps: 9 },
    windows: [{ unit: "microUsd", limit: 20_000_000, perMs: 86_400_000 }],
    onLimit: "fail",
  });
  expect(policy({ maxBudgetUsd: 7 }).defaults).toEqual({ usd: 7 });
});

test("budgetPolicy() reads agents.limits as other names; those of budget come first", () => {
  const limits = { depth: 3, children: 4, tree: 20, kernel: 50, spawnsPerDay: 200, sameTask: 3 };
  expect(policy({ agents: { limits } })).toEqual({
    defaults: { depth: 3, concurrent: 20 },
    windows: [],
    agents: { children: 4, kernel: 50, perDay: 200, sameTask: 3 },
  });
  expect(policy({ agents: { limits }, budget: { depth: 1, concurrent: 2 } }).defaults).toEqual({
    depth: 1,
    concurrent: 2,
  });
});

test("budgetPolicy() reminds of what a session costs at $5 unless the settings say otherwise; 0 is never", () => {
  expect(budgetPolicy(Settings.parse({})).reminderUsd).toBe(5);
  expect(policy({ costReminderUsd: 2.5 }).reminderUsd).toBe(2.5);
  expect(policy({})).not.toHaveProperty("reminderUsd");
});
