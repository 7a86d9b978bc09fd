/**
 * Keeps results that follow from an input and from looks at the world outside, as long as each of these looks shows the
 * same: made again, the result would be the same. So nothing has to be notified of what changes outside.
 */
import { isDeepStrictEqual } from "node:util";

type See = (path: string) => unknown;

interface Look {
  readonly see: See;
  readonly path: string;
  readonly found: unknown;
}

/** The looks of one result, and whether one of them failed: then the result is not kept. */
interface Looks {
  readonly bySee: Map<See, Map<string, Look>>;
  isBroken: boolean;
}

/** Of the result that is being made. Making is synchronous; one result may be made within another. */
let making: Looks | undefined;

/**
 * The same look, noted for the result that is being made, for which each path is looked at once. `see` finds all that
 * the result depends on; what it found must not be changed.
 */
export function looked<Found>(see: (path: string) => Found): (path: string) => Found {
  return (path) => {
    const looks = making;
    if (looks === undefined) return see(path);
    const known = looks.bySee.get(see)?.get(path);
    if (known !== undefined) return known.found as Found;
    try {
      const found = see(path);
      add(looks, { see, path, found });
      return found;
    } catch (error) {
      looks.isBroken = true;
      throw error;
    }
  };
}

function add({ bySee }: Looks, look: Look): void {
  const known = bySee.get(look.see) ?? new Map<string, Look>();
  bySee.set(look.see, known.set(look.path, look));
}

interface Kept<Input, Result> {
  readonly input: Input;
  readonly result: Result;
  readonly looks: readonly Look[];
}

export class Remembered<Input, Result> {
  readonly #make: (input: Input) => Result;
  readonly #most: number;
  /** The last used first. */
  #kept: readonly Kept<Input, Result>[] = [];

  /**
   * `make`: looks only through functions of `looked()`; its result must not be changed. `most`: results that are kept,
   * the last used ones.
   */
  constructor(make: (input: Input) => Result, most: number) {
    this.#make = make;
    this.#most = most;
  }

  /** Throws as `make` does. */
  of(input: Input): Result {
    const known = this.#kept.find((each) => isDeepStrictEqual(each.input, input));
    const others = this.#kept.filter((each) => each !== known);
    const current = known?.looks.every(showsTheSame) === true ? known : this.#made(input);
    // a result around this one depends on its looks as well
    if (making !== undefined) for (const look of current.looks) add(making, look);
    this.#kept = [current, ...others].slice(0, this.#most);
    return current.result;
  }

  /** What was last kept for it, however it may look outside by now; otherwise as `of`. Only for what is checked by `of` later. */
  last(input: Input): Result {
    const known = this.#kept.find((each) => isDeepStrictEqual(each.input, input));
    return known === undefined ? this.of(input) : known.result;
  }

  #made(input: Input): Kept<Input, Result> {
    const outer = making;
    const looks: Looks = { bySee: new Map(), isBroken: false };
    making = looks;
    try {
      const result = this.#make(input);
      const all = [...looks.bySee.values()].flatMap((each) => [...each.values()]);
      return { input, result, looks: looks.isBroken ? [NEVER, ...all] : all };
    } finally {
      making = outer;
      if (outer !== undefined && looks.isBroken) outer.isBroken = true;
    }
  }
}

/** A look that never shows the same. */
const NEVER: Look = { see: () => Number.NaN, path: "", found: null };

function showsTheSame({ see, path, found }: Look): boolean {
  try {
    return isDeepStrictEqual(see(path), found);
  } catch {
    return false;
  }
}
