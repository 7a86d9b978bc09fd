/**
 * How often the calls of a session were denied: in a row for each tool, and in all. A model that is told no again and again is
 * told to change its approach; then a person decides, or, where there is none, the run ends.
 */

import type { Pid } from "../../abi/ids.ts";

/** Plain data: what the journal keeps. */
export interface DenialState {
  readonly inARow: Readonly<Record<string, number>>;
  readonly total: number;
}

const MAX_IN_A_ROW = 3;
const MAX_TOTAL = 20;
/** Tools that are counted apart; of more, those that have been named longest are forgotten. */
const MAX_TOOLS = 256;

export class Denials {
  #inARow = new Map<string, number>();
  #total = 0;
  /** Of processes that nobody could be asked for: they make no further model call in their run. In words, by pid. */
  readonly verdicts = new Map<Pid, string>();
  /** What an earlier daemon counted is in it. */
  isKnown = false;

  recordDenial(tool: string): void {
    const count = this.inARow(tool) + 1;
    this.#inARow.delete(tool);
    this.#inARow.set(tool, count);
    const [oldest] = this.#inARow.keys();
    if (this.#inARow.size > MAX_TOOLS && oldest !== undefined) this.#inARow.delete(oldest);
    this.#total++;
  }

  /** False: nothing was counted. */
  recordSuccess(tool: string): boolean {
    return this.#inARow.delete(tool);
  }

  /** A person's answer. False: nothing was counted. */
  clear(): boolean {
    const isClear = this.#total === 0 && this.#inARow.size === 0;
    this.#inARow = new Map();
    this.#total = 0;
    return !isClear;
  }

  shouldFallbackToPrompting(tool: string): boolean {
    return this.inARow(tool) >= MAX_IN_A_ROW || this.#total >= MAX_TOTAL;
  }

  inARow(tool: string): number {
    return this.#inARow.get(tool) ?? 0;
  }

  get total(): number {
    return this.#total;
  }

  get state(): DenialState {
    return { inARow: Object.fromEntries(this.#inARow), total: this.#total };
  }

  take({ inARow, total }: DenialState): void {
    this.#inARow = new Map(Object.entries(inARow));
    this.#total = total;
  }
}
