/**
 * The law that rights only narrow. `narrow` is pure, commutative and idempotent, and its result is within both: allows
 * are intersected, denies and asks united, and the lower mode is taken. Lists are sorted and contain no entry that
 * another entry covers.
 */

import { PERMISSION_MODES, type PermissionMode } from "../../../abi/process.ts";
import type { Rights, Wall } from "../../../abi/rights.ts";
import type { RuleText } from "../../../abi/rules.ts";
import { coversTool } from "../../../abi/tool.ts";
import { isWithin } from "../../../lib/path.ts";

type List = readonly string[] | null;
type Covers = (wide: string, entry: string) => boolean;

export function narrow(a: Rights, b: Rights): Rights {
  return {
    mode: lowest(a.mode, b.mode),
    devices: meet(a.devices, b.devices, isWithin),
    tools: meet(named(a.tools), named(b.tools), coversTool),
    hosts: meet(a.hosts, b.hosts, coversHost),
    roots: meet(a.roots, b.roots, isWithin),
    deny: united(a.deny, b.deny),
    ask: united(a.ask, b.ask),
    allow: common(a.allow, b.allow),
    ...allWalls(a, b),
    ...(a.noMemory === true || b.noMemory === true ? { noMemory: true } : {}),
  };
}

/** Sorted, so that equal lists have equal bytes. */
function allWalls({ walls: a = [] }: Rights, { walls: b = [] }: Rights): Pick<Rights, "walls"> {
  const byKey = new Map([...a, ...b].map((wall) => [keyOf(wall), wall]));
  return byKey.size === 0
    ? {}
    : { walls: [...byKey].sort(([x], [y]) => (x < y ? -1 : 1)).map(([, wall]) => wall) };
}

export function keyOf({ dir, open, gitDir }: Wall): string {
  return JSON.stringify([dir, open, gitDir]);
}

export function lowest(a: PermissionMode, ...more: readonly (PermissionMode | undefined)[]): PermissionMode {
  let least = a;
  for (const mode of more) if (mode !== undefined && rank(mode) < rank(least)) least = mode;
  return least;
}

/** Whether a change from `ceiling` to `mode` would be a raise. */
export function isAbove(mode: PermissionMode, ceiling: PermissionMode): boolean {
  return rank(mode) > rank(ceiling);
}

/** Spells `mcp__server__*` as `mcp__server`, so that equal lists have equal bytes. */
function named(tools: List): List {
  return tools?.map((name) => name.replace(/^(mcp__.+)__\*$/, "$1")) ?? null;
}

/** `*.h` covers all subdomains of h, but not h itself. */
export function coversHost(wide: string, host: string): boolean {
  if (wide === host) return true;
  return wide.startsWith("*.") && host.endsWith(wide.slice(1)) && host.length > wide.length - 1;
}

/** Two entries are nested or disjoint, so the intersection is the entries of each list that the other covers. */
export function meet(a: List, b: List, covers: Covers): List {
  if (a === null || b === null) {
    const one = a ?? b;
    return one === null ? null : least(one, covers);
  }
  const within = (list: readonly string[], other: readonly string[]): readonly string[] =>
    list.filter((entry) => other.some((wide) => covers(wide, entry)));
  return least([...within(a, b), ...within(b, a)], covers);
}

/** Drops entries that another entry covers; of two that cover each other, the first in order stays. */
function least(list: readonly string[], covers: Covers): readonly string[] {
  const kept: string[] = [];
  for (const entry of [...new Set(list)].sort()) {
    if (kept.some((wide) => covers(wide, entry))) continue;
    const apart = kept.filter((other) => !covers(entry, other));
    kept.length = 0;
    kept.push(...apart, entry);
  }
  return kept;
}

function united(a: readonly RuleText[], b: readonly RuleText[]): readonly RuleText[] {
  return inOrder([...a, ...b]);
}

function common(a: Rights["allow"], b: Rights["allow"]): Rights["allow"] {
  if (a === null || b === null) {
    const one = a ?? b;
    return one === null ? null : inOrder(one);
  }
  const [ofA, ofB] = [new Set(textsOf(a)), new Set(textsOf(b))];
  const within = (rules: readonly RuleText[], texts: ReadonlySet<string>): readonly RuleText[] =>
    rules.filter((rule) => texts.has(textOf(rule)));
  return inOrder([...within(a, ofB), ...within(b, ofA)]);
}

/** Sorted, without duplicates, so that equal lists have equal bytes. */
function inOrder(rules: readonly RuleText[]): readonly RuleText[] {
  if (rules.length === 0) return rules;
  const byKey = new Map(rules.map((rule) => [`${rule.behavior}\0${rule.text}\0${rule.source}`, rule]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
}

export function textsOf(rules: readonly RuleText[]): readonly string[] {
  return rules.map(textOf);
}

function textOf({ behavior, text }: RuleText): string {
  return `${behavior} ${text}`;
}

function rank(mode: PermissionMode): number {
  return PERMISSION_MODES.indexOf(mode);
}
