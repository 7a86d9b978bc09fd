/** How far behind the end of a list the end of an earlier one is looked for. */
const LOOK_BACK = 8;

/** The sum of a list up to one of its parts. */
interface End<Part, Sum> {
  readonly part: Part;
  readonly before: End<Part, Sum> | undefined;
  readonly count: number;
  readonly sum: Sum;
}

/**
 * The sum of lists that grow at their end, as the messages of a conversation do: from where an earlier list ended, only
 * the new parts are added. Parts must not change. The sums live as long as their parts.
 */
export class Running<Part extends object, Sum> {
  readonly #start: Sum;
  readonly #add: (sum: Sum, part: Part) => Sum;
  readonly #ends = new WeakMap<Part, End<Part, Sum>>();

  constructor(start: Sum, add: (sum: Sum, part: Part) => Sum) {
    this.#start = start;
    this.#add = add;
  }

  of(parts: readonly Part[]): Sum {
    let end = this.#lastEnd(parts);
    for (let count = end?.count ?? 0; count < parts.length; count++) {
      const part = parts[count] as Part;
      const sum = this.#add(end === undefined ? this.#start : end.sum, part);
      end = { part, before: end, count: count + 1, sum };
      this.#ends.set(part, end);
    }
    return end === undefined ? this.#start : end.sum;
  }

  #lastEnd(parts: readonly Part[]): End<Part, Sum> | undefined {
    for (let count = parts.length; count > Math.max(0, parts.length - LOOK_BACK); count--) {
      const end = this.#ends.get(parts[count - 1] as Part);
      if (end?.count === count && isOf(end, parts)) return end;
    }
    return undefined;
  }
}

/** Whether all parts up to the end are those of the list: any of them may have been in another list since. */
function isOf<Part>(end: End<Part, unknown>, parts: readonly Part[]): boolean {
  for (let at: End<Part, unknown> | undefined = end; at !== undefined; at = at.before)
    if (parts[at.count - 1] !== at.part) return false;
  return true;
}
