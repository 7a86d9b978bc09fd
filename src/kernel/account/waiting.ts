/** The agents of one tree that wait to begin: by order over all, and by their parents, whose limits decide for all of theirs. */
import type { Account } from "./account.ts";

interface Waiting {
  /** Rises with each one that is added. */
  readonly seq: number;
  readonly ppid: number;
  readonly above: readonly Account[];
}

/** Children of one parent, and below one account: whatever lets the first of them begin holds for the others, too. */
interface Siblings<W extends Waiting> {
  readonly ppid: number;
  readonly over: Account | undefined;
  readonly line: Line<W>;
}

export class WaitingTree<W extends Waiting> {
  readonly top: Account;
  readonly #all = new Line<W>();
  /** None of them is empty. */
  readonly #siblings = new Set<Siblings<W>>();

  constructor(top: Account) {
    this.top = top;
  }

  get size(): number {
    return this.#all.size;
  }

  /** The number of the one that has waited longest. */
  get since(): number {
    return this.#all.first?.seq ?? Infinity;
  }

  add(one: W): void {
    const siblings = this.#siblingsOf(one) ?? { ppid: one.ppid, over: one.above[0], line: new Line<W>() };
    this.#siblings.add(siblings);
    siblings.line.add(one);
    this.#all.add(one);
  }

  /** Idempotent. */
  delete(one: W): void {
    this.#all.delete(one);
    const siblings = this.#siblingsOf(one);
    siblings?.line.delete(one);
    if (siblings?.line.size === 0) this.#siblings.delete(siblings);
  }

  /** From 1; undefined: it does not wait here. */
  placeOf(one: W): number | undefined {
    const at = this.#all.indexOf(one);
    return at < 0 ? undefined : at + 1;
  }

  /** The one that has waited longest of those that fit. */
  first(fits: (one: W) => boolean): W | undefined {
    let found: W | undefined;
    for (const { line } of this.#siblings) {
      const { first } = line;
      if (first !== undefined && first.seq < (found?.seq ?? Infinity) && fits(first)) found = first;
    }
    return found;
  }

  #siblingsOf({ ppid, above }: W): Siblings<W> | undefined {
    for (const each of this.#siblings) if (each.ppid === ppid && each.over === above[0]) return each;
    return undefined;
  }
}

/** In the order in which they were added. One is found in logarithmic time. */
class Line<W extends Pick<Waiting, "seq">> {
  readonly #items: W[] = [];

  get size(): number {
    return this.#items.length;
  }

  get first(): W | undefined {
    return this.#items[0];
  }

  add(one: W): void {
    this.#items.push(one);
  }

  delete(one: W): void {
    const at = this.indexOf(one);
    if (at >= 0) this.#items.splice(at, 1);
  }

  /** -1: it is not there. */
  indexOf(one: W): number {
    let [low, high] = [0, this.#items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#items[middle]?.seq ?? Infinity) < one.seq) low = middle + 1;
      else high = middle;
    }
    return this.#items[low] === one ? low : -1;
  }
}
