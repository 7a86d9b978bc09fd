/**
 * How often the calls of a session were denied: in a row for each tool, and in all; of one reply of a model, each tool once. A
 * model that is told no again and again is told to change its approach; then a person decides, where one is there.
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
/** Processes whose reply is remembered; of more, those that were told longest ago count anew. */
const MAX_REPLIES = 256;

export class Denials {
  #inARow = new Map<string, number>();
  #total = 0;
  /** Tools that were counted in the reply that is under way, by process. */
  readonly #inReply = new Map<Pid, Set<string>>();
  /** What an earlier daemon counted is in it. */
  isKnown = false;

  /** Its model is asked again: it has read what was denied. */
  beginReply(pid: Pid): void {
    this.#inReply.delete(pid);
    this.#inReply.set(pid, new Set());
    const [oldest] = this.#inReply.keys();
    if (this.#inReply.size > MAX_REPLIES && oldest !== undefined) this.#inReply.delete(oldest);
  }

  /** False: it counts no more than it did. A process that asks no model is counted call by call. */
  recordDenial(pid: Pid, tool: string): boolean {
    const counted = this.#inReply.get(pid);
    if (counted?.has(tool) === true) return false;
    counted?.add(tool);
    const count = this.inARow(tool) + 1;
    this.#inARow.delete(tool);
    this.#inARow.set(tool, count);
    const [oldest] = this.#inARow.keys();
    if (this.#inARow.size > MAX_TOOLS && oldest !== undefined) this.#inARow.delete(oldest);
    this.#total++;
    return true;
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
