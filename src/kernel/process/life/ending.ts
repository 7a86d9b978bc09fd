/** What was decided about the end of a live process: its exit, and when it is ended by force. */
import { EXIT, type ExitStatus } from "../../../abi/process.ts";

export class Ending {
  #verdict: ExitStatus | null = null;
  #forceAt: number | null = null;
  #own: ExitStatus | null = null;

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

  /** A program of the host has ended by itself, as TERM asked it to: its own exit counts. A deadline or KILL outranks it. */
  heed(own: ExitStatus): void {
    if (this.#verdict === EXIT.sigterm) this.#own = own;
  }

  /** The exit of the process, whose program returned this one. */
  exitFor(returned: ExitStatus): ExitStatus {
    return this.#own ?? this.#verdict ?? returned;
  }

  /** Plans the end by force at this monotonic millisecond. False: already planned for then or sooner. */
  plan(at: number): boolean {
    if (this.#forceAt !== null && this.#forceAt <= at) return false;
    this.#forceAt = at;
    return true;
  }
}
