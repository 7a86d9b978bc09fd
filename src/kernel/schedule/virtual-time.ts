/**
 * Fair queueing by virtual time, within one class: a grant moves its session, and its process within the session, ahead
 * by tokens / weight, and those who are least ahead come first. Whoever comes, or comes back, starts at the present:
 * nobody saves up.
 */

/** One line of claimants, at its own present. */
class Line<Key> {
  readonly #times = new Map<Key, number>();
  #present = 0;

  get size(): number {
    return this.#times.size;
  }

  timeOf(key: Key): number {
    return Math.max(this.#present, this.#times.get(key) ?? 0);
  }

  /** `isInTurn`: it was least ahead, so its time is the present. */
  advance(key: Key, by: number, isInTurn: boolean): void {
    const time = this.timeOf(key);
    if (isInTurn) this.#present = time;
    this.#times.set(key, time + by);
  }

  /** After the fact: what it really used. Never before the present. */
  correct(key: Key, by: number): void {
    const time = this.#times.get(key);
    if (time !== undefined) this.#times.set(key, time + by);
  }

  /** Forgets those who are not ahead of the present; returns who is left. */
  prune(): ReadonlySet<Key> {
    for (const [key, time] of this.#times) if (time <= this.#present) this.#times.delete(key);
    return new Set(this.#times.keys());
  }
}

/** Whose turn it is. Weights: 1 to 100. */
export interface Claimant {
  /** Shared by a process that the user started and its descendants. */
  readonly session: string;
  readonly sessionWeight: number;
  readonly process: number;
  readonly weight: number;
}

/** Lines are pruned when they grow beyond this. */
const PRUNED_AT = 256;

export class VirtualTime {
  readonly #sessions = new Line<string>();
  readonly #processes = new Map<string, Line<number>>();

  /** Less is sooner. */
  timeOf({ session }: Claimant): number {
    return this.#sessions.timeOf(session);
  }

  /** The same between processes of one session. */
  within({ session, process }: Claimant): number {
    return this.#processes.get(session)?.timeOf(process) ?? 0;
  }

  advance(who: Claimant, tokens: number, isInTurn: boolean): void {
    this.#sessions.advance(who.session, tokens / who.sessionWeight, isInTurn);
    this.#lineOf(who.session).advance(who.process, tokens / who.weight, isInTurn);
    if (this.#sessions.size > PRUNED_AT) this.#prune();
  }

  correct(who: Claimant, tokens: number): void {
    this.#sessions.correct(who.session, tokens / who.sessionWeight);
    this.#processes.get(who.session)?.correct(who.process, tokens / who.weight);
  }

  #lineOf(session: string): Line<number> {
    const found = this.#processes.get(session) ?? new Line<number>();
    this.#processes.set(session, found);
    if (found.size > PRUNED_AT) found.prune();
    return found;
  }

  #prune(): void {
    const left = this.#sessions.prune();
    for (const session of this.#processes.keys()) if (!left.has(session)) this.#processes.delete(session);
  }
}
