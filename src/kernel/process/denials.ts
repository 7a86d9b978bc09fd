/**
 * How often the calls of a session were denied: in a row for each tool, and in total. Within one reply of a model, each
 * tool counts once. After repeated denials the model is asked to change its approach; then the user decides, if one is
 * attached.
 */

import type { Pid } from "../../abi/ids.ts";
import { LateMap, LateSet } from "../../lib/maps/late.ts";
import { type Facet, plainFacet } from "../facts/facet.ts";

/** The state as plain data, as the journal stores it. */
interface DenialState {
  readonly inARow: Readonly<Record<string, number>>;
  readonly total: number;
}

/** The denials of the session that the process began; null: none. */
export const denialsFacet: Facet<DenialState | null> = plainFacet("denials", {
  init: null as DenialState | null,
  folds: { "permit.denials": (_now, body) => body as unknown as DenialState },
});

const MAX_IN_A_ROW = 3;
const MAX_TOTAL = 20;
/** Tools that are counted separately; beyond that, the least recently denied tool is forgotten. */
const MAX_TOOLS = 256;
/** Processes whose current reply is remembered; beyond that, the one whose reply began first is dropped. */
const MAX_REPLIES = 256;

export class Denials {
  readonly #inARow = new LateMap<string, number>();
  #total = 0;
  /** Tools already counted in the current reply, by process. */
  readonly #inReply = new LateMap<Pid, LateSet<string>>();
  /** The counts of earlier daemons have been taken over. */
  isKnown = false;

  /** Called when the model of `pid` is asked again: by then it has read the earlier denials. */
  beginReply(pid: Pid): void {
    this.#inReply.delete(pid);
    this.#inReply.set(pid, new LateSet());
    const [oldest] = this.#inReply.keys();
    if (this.#inReply.size > MAX_REPLIES && oldest !== undefined) this.#inReply.delete(oldest);
  }

  /** False: already counted in this reply. A process without a model reply is counted call by call. */
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

  /** False: no denials of this tool had been counted. */
  recordSuccess(tool: string): boolean {
    return this.#inARow.delete(tool);
  }

  /** Resets all counts, after an answer of the user. False: nothing had been counted. */
  clear(): boolean {
    const isClear = this.#total === 0 && this.#inARow.size === 0;
    this.#inARow.clear();
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
    this.#inARow.clear();
    for (const [tool, count] of Object.entries(inARow)) this.#inARow.set(tool, count);
    this.#total = total;
  }
}
