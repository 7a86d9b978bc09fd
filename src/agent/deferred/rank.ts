/**
 * Ranks the tools for a query, best first: keyword score × 0.4 + TF-IDF × 0.6. Keyword scores are divided by the
 * highest of them, so that both lie in 0 … 1. Equal scores are ordered by name. Pure.
 */
import type { Entry } from "./entry.ts";
import { keywordScore, type Words, wordsOf } from "./keyword.ts";
import { type TfIdfIndex, tfIdfIndex } from "./tf-idf.ts";

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
