/**
 * Ranks the tools for a query, best first: keyword score × 0.4 + TF-IDF × 0.6. Keyword scores are divided by the
 * highest of them, so that both lie in 0 … 1. Equal scores are ordered by name. Pure.
 */
import type { Entry } from "./entry.ts";
import { termsOf } from "./terms.ts";

export interface Weights {
  readonly keyword: number;
  readonly tfIdf: number;
  /** Tools with a lower score are left out. */
  readonly minScore: number;
}

export const DEFAULT_WEIGHTS: Weights = { keyword: 0.4, tfIdf: 0.6, minScore: 0.1 };

interface Ranked {
  readonly entry: Entry;
  readonly score: number;
}

/** Built once for each set of tools. */
export class RankIndex {
  readonly #entries: readonly Entry[];
  readonly #words: readonly Words[];
  readonly #tfIdf: TfIdfIndex;

  constructor(entries: readonly Entry[]) {
    this.#entries = [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#words = this.#entries.map(wordsOf);
    this.#tfIdf = tfIdfIndex(this.#entries);
  }

  /** `required`: terms that each result must contain in its name, hint or description. */
  rank(terms: readonly string[], weights: Weights, required: readonly string[] = []): readonly Ranked[] {
    const keywords = this.#words.map((words) => keywordScore(words, terms));
    const best = Math.max(1, ...keywords);
    const cosines = this.#tfIdf.scores(terms);
    const found = this.#entries.flatMap((entry, i): Ranked[] => {
      const words = this.#words[i] as Words;
      if (required.some((term) => keywordScore(words, [term]) === 0)) return [];
      const keyword = (keywords[i] as number) / best;
      const score = keyword * weights.keyword + (cosines.get(i) ?? 0) * weights.tfIdf;
      return score >= weights.minScore && score > 0 ? [{ entry, score }] : [];
    });
    return found.sort((a, b) => b.score - a.score);
  }
}

/**
 * How well the words of a query match those of a tool. For each term, the points of its best match in the name are
 * added to those for the hint and the description. Names are split at `_` and at changes of case. Points: exact part of
 * the name 10 (12 for a tool of a server), partial 5 (6), hint 4, description 2.
 */
const POINTS = { exact: 10, partial: 5, hint: 4, description: 2 } as const;
const SERVER_POINTS = { exact: 12, partial: 6 } as const;

/** The words of a tool. */
interface Words {
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

/**
 * Cosine similarity of TF-IDF vectors. A tool's vector counts its terms by where they occur: name 3.0, hint 2.5,
 * description 1.0; the weight of a term is ln((1 + tools) / (1 + tools that have it)) + 1. An inverted index limits the
 * work to the terms of the query.
 */
const WEIGHTS = { name: 3, hint: 2.5, description: 1 } as const;

interface TfIdfIndex {
  /** From the index of a tool in the list to its score, 0 … 1. Tools that share no term with the query are left out. */
  scores(terms: readonly string[]): ReadonlyMap<number, number>;
}

function tfIdfIndex(entries: readonly Entry[]): TfIdfIndex {
  const counts = entries.map(countsOf);
  const postings = new Map<string, { at: number; count: number }[]>();
  counts.forEach((each, at) => {
    for (const [term, count] of each) {
      const list = postings.get(term);
      if (list === undefined) postings.set(term, [{ at, count }]);
      else list.push({ at, count });
    }
  });
  const idf = (term: string) => Math.log((1 + entries.length) / (1 + (postings.get(term)?.length ?? 0))) + 1;
  const norms = counts.map((each) => Math.hypot(...[...each].map(([term, count]) => count * idf(term))));
  return { scores: (terms) => cosines(terms, { postings, idf, norms }) };
}

interface Vectors {
  readonly postings: ReadonlyMap<string, readonly { at: number; count: number }[]>;
  readonly norms: readonly number[];
  idf(term: string): number;
}

function cosines(terms: readonly string[], { postings, idf, norms }: Vectors): ReadonlyMap<number, number> {
  const query = new Map<string, number>();
  for (const term of terms) query.set(term, (query.get(term) ?? 0) + 1);
  const queryNorm = Math.hypot(...[...query].map(([term, count]) => count * idf(term)));
  const dots = new Map<number, number>();
  for (const [term, wanted] of query) {
    const weight = idf(term) ** 2 * wanted;
    for (const { at, count } of postings.get(term) ?? []) dots.set(at, (dots.get(at) ?? 0) + weight * count);
  }
  return new Map([...dots].map(([at, dot]) => [at, dot / (queryNorm * (norms[at] as number))]));
}

function countsOf({ name, hint, description, server }: Entry): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const term of termsOf(text)) counts.set(term, (counts.get(term) ?? 0) + weight);
  };
  add(server === "" ? name : name.replace(/^mcp__/, ""), WEIGHTS.name);
  add(hint, WEIGHTS.hint);
  add(description, WEIGHTS.description);
  return counts;
}
