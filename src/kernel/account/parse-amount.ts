/**
 * Reads an amount as written by the user: `2usd`, `$0.50`, `+50000`, `50k tokens`. Money in millionths of a dollar;
 * undefined: not an amount.
 */
import { microUsd } from "../../lib/usd.ts";

const SCALES: Readonly<Record<string, number>> = { "": 1, k: 1_000, m: 1_000_000 };

export function amountIn(text: string, unit: "usd" | "tokens"): number | undefined {
  const words = text
    .trim()
    .toLowerCase()
    .replace(/^\+\s*/, "");
  if (unit === "usd") {
    const [, count] = /^\$?(\d{1,9}(?:\.\d{1,6})?)\s*(?:usd|\$)?$/.exec(words) ?? [];
    return count === undefined ? undefined : microUsd(Number(count));
  }
  const [, count, scale = ""] = /^(\d{1,12}(?:\.\d{1,3})?)([km]?)\s*(?:tokens|steps)?$/.exec(words) ?? [];
  return count === undefined ? undefined : Math.round(Number(count) * (SCALES[scale] ?? 1));
}
