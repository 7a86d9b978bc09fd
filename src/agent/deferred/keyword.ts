/**
 * How well the words of a query match those of a tool. For each term, the points of its best match in the name are
 * added to those for the hint and the description. Names are split at `_` and at changes of case. Points: exact part of
 * the name 10 (12 for a tool of a server), partial 5 (6), hint 4, description 2.
 */
import type { Entry } from "./entry.ts";
import { termsOf } from "./terms.ts";

const POINTS = { exact: 10, partial: 5, hint: 4, description: 2 } as const;
const SERVER_POINTS = { exact: 12, partial: 6 } as const;

export interface Words {
  readonly name: readonly string[];
  readonly hint: ReadonlySet<string>;
  readonly description: ReadonlySet<string>;
  readonly isServed: boolean;
}

export function wordsOf({ name, hint, description, server }: Entry): Words {
  const own = server === "" ? name : name.replace(/^mcp__/, "");
  return {
    name: [...new Set(termsOf(own))],
    hint: new Set(termsOf(hint)),
    description: new Set(termsOf(description)),
    isServed: server !== "",
  };
}

export function keywordScore(words: Words, terms: readonly string[]): number {
  return terms.reduce((sum, term) => sum + pointsOf(words, term), 0);
}

function pointsOf({ name, hint, description, isServed }: Words, term: string): number {
  const { exact, partial } = isServed ? SERVER_POINTS : POINTS;
  const inName = name.includes(term) ? exact : name.some((part) => part.includes(term)) ? partial : 0;
  return inName + (hint.has(term) ? POINTS.hint : 0) + (description.has(term) ? POINTS.description : 0);
}
