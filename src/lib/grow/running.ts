/** How far behind the end of a list the end of an earlier one is looked for. */
const LOOK_BACK = 8;

/** The sum of a list up to one of its parts. */
interface End<Part, Sum> {
  /** The list and all that came after it; the ends of a list that grew share it. */
  readonly line: Part[];
  readonly count: number;
  readonly sum: Sum;
}

/**
 * The sum of lists that grow at their end, as the messages of a conversation do: from where an earlier list ended, only
 * the new parts are added. Parts must not change. Of each list only its last ends are kept, and as long as their parts
 * live.
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
    let { line, count, sum } = this.#lastEnd(parts) ?? { line: [], count: 0, sum: this.#start };
    // another list has continued from there
    if (line.length > count && parts.length > count) line = line.slice(0, count);
    while (count < parts.length) {
      const part = parts[count] as Part;
      sum = this.#add(sum, part);
      count = line.push(part);
      this.#ends.set(part, { line, count, sum });
      const old = line[count - 1 - LOOK_BACK];
      if (old !== undefined && this.#ends.get(old)?.line === line) this.#ends.delete(old);
    }
    return sum;
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
function isOf<Part>({ line, count }: End<Part, unknown>, parts: readonly Part[]): boolean {
  for (let at = 0; at < count; at++) if (parts[at] !== line[at]) return false;
  return true;
}
