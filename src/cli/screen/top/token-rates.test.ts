import { expect, test } from "vitest";
import { aRow } from "../../testing/fake-daemon.ts";
import { TokenRates } from "./token-rates.ts";

const at = (elapsed_ms: number, tokens_used: number, state: "running" | "zombie" = "running") => [
  aRow({ pid: 1, elapsed_ms, tokens_used, state }),
];

test("a process that is seen for the first time has the rate of its whole life", () => {
  expect(new TokenRates().update(at(120_000, 1000)).get(1)).toBe(500);
  expect(new TokenRates().update(at(0, 0)).get(1)).toBe(0);
});

test("later it is that of the last minute", () => {
  const rates = new TokenRates();
  rates.update(at(600_000, 100_000));
  expect(rates.update(at(605_000, 100_000)).get(1)).toBe(9917);
  expect(rates.update(at(630_000, 100_300)).get(1)).toBe(600);
  expect(rates.update(at(660_000, 100_300)).get(1)).toBe(300);
  expect(rates.update(at(690_000, 100_300)).get(1)).toBe(0);
});

test("what has ended uses none, and what is gone is forgotten", () => {
  const rates = new TokenRates();
  rates.update(at(60_000, 1000));
  expect(rates.update(at(60_000, 1000, "zombie")).get(1)).toBe(0);
  expect(rates.update([]).size).toBe(0);
  expect(rates.update(at(120_000, 1000)).get(1)).toBe(500);
});
