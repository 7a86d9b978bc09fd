/** What was decided about the end of a process while it lives, and how its program hears of it. */
import type { ExitStatus } from "../../../abi/process.ts";

export class Ending {
  #verdict: ExitStatus | null = null;
  #forceAt: number | null = null;

  /** What a signal or a deadline decided; outranks what the program returns. */
  get verdict(): ExitStatus | null {
    return this.#verdict;
  }

  /** The first verdict stands. */
  decide(verdict: ExitStatus): void {
    this.#verdict ??= verdict;
  }

  /** KILL, over a signal that is under way. What the process decided itself, or a deadline, keeps its words. */
  overrule(verdict: ExitStatus): void {
    this.#verdict = verdict;
  }

  /** By force, at this monotonic millisecond. False: nothing changes, it is planned for then or sooner. */
  plan(at: number): boolean {
    if (this.#forceAt !== null && this.#forceAt <= at) return false;
    this.#forceAt = at;
    return true;
  }
}
