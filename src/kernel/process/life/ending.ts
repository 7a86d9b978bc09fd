/** What was decided about the end of a live process: its exit, and when it is ended by force. */
import type { ExitStatus } from "../../../abi/process.ts";

export class Ending {
  #verdict: ExitStatus | null = null;
  #forceAt: number | null = null;

  /** The exit that a signal or a deadline decided; it outranks the one that the program returns. */
  get verdict(): ExitStatus | null {
    return this.#verdict;
  }

  /** The first verdict stands. */
  decide(verdict: ExitStatus): void {
    this.#verdict ??= verdict;
  }

  /** Replaces the verdict: KILL outranks a signal that is still in effect. */
  overrule(verdict: ExitStatus): void {
    this.#verdict = verdict;
  }

  /** Plans the end by force at this monotonic millisecond. False: already planned for then or sooner. */
  plan(at: number): boolean {
    if (this.#forceAt !== null && this.#forceAt <= at) return false;
    this.#forceAt = at;
    return true;
  }
}
