/**
 * Cosine similarity of TF-IDF vectors. A tool's vector counts its terms by where they occur: name 3.0, hint 2.5,
 * description 1.0; the weight of a term is ln((1 + tools) / (1 + tools that have it)) + 1. An inverted index limits the
 * work to the terms of the query.
 */
import type { Entry } from "./entry.ts";
import { termsOf } from "./terms.ts";

const WEIGHTS = { name: 3, hint: 2.5, description: 1 } as const;

export interface TfIdfIndex {
  /** From the index of a tool in the list to its score, 0 … 1. Tools that share no term with the query are left out. */
  scores(terms: readonly string[]): ReadonlyMap<number, number>;
}

export function tfIdfIndex(entries: readonly Entry[]): TfIdfIndex {
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
