/** The exact content of a question as one hash: an answer is valid for nothing else. */
import { createHash } from "node:crypto";
import type { Effect } from "../../abi/effects.ts";

/** SHA-256, hex, of the tool, its arguments in canonical form, and its effects with their paths resolved. */
export function digestOf(tool: string, input: string, effects: readonly Effect[]): string {
  const text = JSON.stringify([tool, canonical(parsed(input)), canonical(effects)]);
  return createHash("sha256").update(text).digest("hex");
}

/** Arguments that are not valid JSON are hashed as text. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return input;
  }
}

/**
 * Sorts keys at every depth, as the order in which a model writes them does not matter. Lists and objects stay
 * distinct.
 */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return ["list", ...value.map(canonical)];
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return ["object", ...entries.map(([key, each]) => [key, canonical(each)])];
}
