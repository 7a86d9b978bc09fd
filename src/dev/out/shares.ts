/**
 * Who keeps how much of the spools that have ended. A spool that has to go is one of the owner that keeps the most, so
 * that no owner pushes out the output of another that keeps less.
 */

export interface ShareLimits {
  /** Of each owner. A program has a spool for each of its streams, and one for its log. */
  readonly keptPrograms: number;
  readonly keptProgramsInAll: number;
  readonly keptBytes: number;
}

/** A spool is of the program that its name gives, up to the last dot. */
export interface Owned {
  readonly owner: string;
  readonly bytes: number;
}

interface Share {
  /** The oldest first. */
  readonly names: Set<string>;
  /** The number of spools of each. */
  readonly programs: Map<string, number>;
  bytes: number;
}

export class Shares {
  readonly #shares = new Map<string, Share>();
  #programs = 0;
  #bytes = 0;

  add(name: string, { owner, bytes }: Owned): void {
    const share = this.#shares.get(owner) ?? { names: new Set(), programs: new Map(), bytes: 0 };
    this.#shares.set(owner, share);
    share.names.add(name);
    share.bytes += bytes;
    this.#bytes += bytes;
    this.#count(share, name, 1);
  }

  remove(name: string, { owner, bytes }: Owned): void {
    const share = this.#shares.get(owner);
    if (share?.names.delete(name) !== true) return;
    share.bytes -= bytes;
    this.#bytes -= bytes;
    this.#count(share, name, -1);
    if (share.names.size === 0) this.#shares.delete(owner);
  }

  /** The spool that is to go next; undefined: all are within the limits. */
  over({ keptPrograms, keptProgramsInAll, keptBytes }: ShareLimits): string | undefined {
    const programs = this.#most(({ programs: { size } }) => size);
    if (programs !== undefined && (programs.size > keptPrograms || this.#programs > keptProgramsInAll))
      return programs.oldest;
    return this.#bytes > keptBytes ? this.#most(({ bytes }) => bytes)?.oldest : undefined;
  }

  #most(sizeOf: (share: Share) => number): { size: number; oldest: string | undefined } | undefined {
    let most: { share: Share; size: number } | undefined;
    for (const share of this.#shares.values()) {
      const size = sizeOf(share);
      if (most === undefined || size > most.size) most = { share, size };
    }
    const [oldest] = most?.share.names ?? [];
    return most && { size: most.size, oldest };
  }

  #count({ programs }: Share, name: string, more: 1 | -1): void {
    const program = name.replace(/\.[^.]*$/, "");
    const before = programs.get(program) ?? 0;
    if (before + more > 0) programs.set(program, before + more);
    else programs.delete(program);
    if (before === 0) this.#programs++;
    else if (before + more === 0) this.#programs--;
  }
}
