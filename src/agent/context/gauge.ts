/**
 * How many tokens the next request has: those that the last reply reported, and an estimate of what was added since.
 * What a provider reports also says how far the estimates are off. Pure but for its own state.
 */
import type { Measures, WindowFacts } from "../../abi/context.ts";
import { messageOf } from "../../abi/errors.ts";
import type { Usage } from "../../abi/llm.ts";
import { findLlmError } from "../../abi/llm-error.ts";
import type { Sys } from "../../abi/sys.ts";
import { LEAST_WINDOW, type Thresholds, thresholds } from "../../lib/tokens/window.ts";
import { CacheWatch } from "./cache-watch.ts";

/** An estimate without a reported count is taken this much higher. */
const MARGIN = 1.1;
/** Estimates of very short requests say nothing. */
const LEAST_ESTIMATE = 500;
/** A provider's count further away from the estimate is not believed. */
const MOST_RATIO = 4;
/** If a refused request would need a ratio above this, the window is smaller than known instead. */
const LIKELY_RATIO = 2;

/** What refusals taught: recorded with the position of the loop. */
export interface Learned {
  readonly window: number;
  readonly ratio: number;
}

export class Gauge {
  readonly #facts: WindowFacts;
  #window: number;
  /** Tokens for each estimated one. */
  #ratio: number;
  #base: { readonly estimate: number; readonly real: number } | null = null;
  #hasLearned: boolean;
  readonly cache = new CacheWatch();

  constructor(facts: WindowFacts, learned: Partial<Learned> = {}) {
    this.#facts = facts;
    this.#window = Math.min(facts.window, learned.window ?? facts.window);
    this.#ratio = learned.ratio ?? 1;
    this.#hasLearned = learned.ratio !== undefined;
  }

  get window(): number {
    return this.#window;
  }

  get ratio(): number {
    return Math.max(MARGIN, this.#ratio);
  }

  /** undefined: no request was refused. */
  get learned(): Learned | undefined {
    return this.#hasLearned ? { window: this.#window, ratio: this.#ratio } : undefined;
  }

  limits(): Thresholds {
    return thresholds(this.#window, this.#facts.maxOutput, this.#facts.auto);
  }

  used(estimate: number): number {
    const base = this.#base;
    if (base === null || estimate < base.estimate) return Math.ceil(estimate * this.ratio);
    return Math.ceil(base.real + (estimate - base.estimate) * this.ratio);
  }

  /** The reply to a request of this estimate has come. */
  answered(estimate: number, usage: Usage): void {
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
    const real = input_tokens + cache_creation_input_tokens + cache_read_input_tokens;
    // some servers report little or nothing
    this.#base = { estimate, real: Math.max(real, Math.ceil(estimate / 2)) };
    if (estimate >= LEAST_ESTIMATE && !this.#hasLearned) this.#ratio = bounded(real / estimate);
    else if (estimate >= LEAST_ESTIMATE) this.#ratio = Math.max(this.#ratio, bounded(real / estimate));
  }

  /** The view has moved: what was reported no longer holds. */
  moved(): void {
    this.#base = null;
    this.cache.forget();
  }

  /** A request of this estimate, with this limit of the reply, was refused as too long, in these words. */
  refused(estimate: number, maxOutput: number, words: string): void {
    this.#hasLearned = true;
    this.#base = null;
    const { limit, got } = countsIn(words);
    if (limit !== undefined && limit < this.#window) this.#window = Math.max(limit, LEAST_WINDOW);
    if (got !== undefined) {
      this.#ratio = Math.max(this.#ratio, bounded(got / estimate));
      return;
    }
    const least = (this.#window - maxOutput) / Math.max(1, estimate);
    if (limit !== undefined || least <= LIKELY_RATIO)
      this.#ratio = bounded(Math.max(this.#ratio + 0.1, least * 1.05));
    else this.#window = Math.max(LEAST_WINDOW, Math.floor(estimate * this.ratio * 0.95));
  }
}

/** Reports the measures of requests; of each report only what has changed since the one before. */
export class Report {
  readonly #told = new Map<string, string>();

  tell(sys: Pick<Sys, "measured">, measures: Measures): void {
    const changed = Object.entries(measures).filter(([name, value]) => {
      const text = JSON.stringify(value);
      if (this.#told.get(name) === text) return false;
      this.#told.set(name, text);
      return true;
    });
    // the same count after a later request is news, too
    const { reported } = measures;
    sys.measured({ ...Object.fromEntries(changed), ...(reported === undefined ? {} : { reported }) });
  }
}

function bounded(ratio: number): number {
  return Math.min(MOST_RATIO, Math.max(1, ratio));
}

const LIMIT =
  /(?:>|maximum context length (?:is|of)|context (?:window|length) (?:is|of)|at most|limit of|tokens allowed)\D{0,12}([\d,]{4,})/i;
const GOT = /(?:too long:?|token count|requested|resulted in|input length of)\D{0,12}([\d,]{4,})/i;

/** The counts that providers name in their refusals; only hints. */
export function countsIn(words: string): { limit?: number; got?: number } {
  const [limit, got] = [LIMIT, GOT].map((pattern) => numberIn(pattern.exec(words)?.[1]));
  if (limit === undefined) return {};
  return got === undefined || got <= limit ? { limit } : { limit, got };
}

/** Whether a request was refused for its bytes, not for its tokens. */
export function isBySize(error: unknown): boolean {
  const words = messageOf(error);
  if (countsIn(words).limit !== undefined || /token|context/i.test(words)) return false;
  return (
    findLlmError(error)?.status === 413 || /payload size|(request|entity|body) (is )?too large/i.test(words)
  );
}

function numberIn(text: string | undefined): number | undefined {
  const count = Number(text?.replaceAll(",", ""));
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
}
