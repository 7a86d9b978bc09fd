/** What a test asks of the law: whether one set of rights is within another. */

import type { Rights } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import { coversTool } from "../../abi/tool.ts";
import { isWithin } from "../../lib/path.ts";
import { coversHost, isAbove, keyOf, textsOf } from "../process/rights/narrow.ts";

/** Whether `a` permits nothing that `b` does not permit. */
export function isSubset(a: Rights, b: Rights): boolean {
  return (
    !isAbove(a.mode, b.mode) &&
    isInside(a.devices, b.devices, isWithin) &&
    isInside(a.tools, b.tools, coversTool) &&
    isInside(a.hosts, b.hosts, coversHost) &&
    isInside(a.roots, b.roots, isWithin) &&
    hasAll(a.deny, b.deny) &&
    hasAll(a.ask, b.ask) &&
    (b.noMemory !== true || a.noMemory === true) &&
    isInside((b.walls ?? []).map(keyOf), (a.walls ?? []).map(keyOf), same) &&
    (b.allow === null || (a.allow !== null && isInside(textsOf(a.allow), textsOf(b.allow), same)))
  );
}

function isInside(
  a: readonly string[] | null,
  b: readonly string[] | null,
  covers: (wide: string, entry: string) => boolean,
): boolean {
  if (b === null) return true;
  return a?.every((entry) => b.some((wide) => covers(wide, entry))) === true;
}

function hasAll(a: readonly RuleText[], b: readonly RuleText[]): boolean {
  return isInside(textsOf(b), textsOf(a), same);
}

function same(a: string, b: string): boolean {
  return a === b;
}
