/**
 * Ctrl-C while something runs elsewhere for this command. The first press asks it to end, and the command waits for its
 * end as usual; the second insists, and then the command leaves. Before anything was started, the first press leaves.
 * While it is not yet known what was started, the first press waits for that, and the second leaves.
 */
import type { Interrupts } from "../terminal/interrupts.ts";

/** How long sending the second Ctrl-C may take before the command leaves anyway, in ms. */
export const LAST_WORDS_MS = 1_000;

/** How the target is ended. Neither method rejects. */
export interface Ends<T> {
  ask(target: T): Promise<void>;
  insist(target: T): Promise<void>;
}

export class InterruptTwice<T> implements AsyncDisposable {
  readonly #ends: Ends<T>;
  readonly #abandon = new AbortController();
  readonly #unlisten: () => void;
  #state: "connecting" | "beginning" | { readonly target: T } = "connecting";
  #presses = 0;
  /** At most one `ask` and one `insist`. */
  readonly #sending: Promise<void>[] = [];

  constructor(interrupts: Interrupts, ends: Ends<T>) {
    this.#ends = ends;
    this.#unlisten = interrupts.listen(() => this.#press());
  }

  /** Fires when the command must leave, whatever happens to the target. */
  get abandoned(): AbortSignal {
    return this.#abandon.signal;
  }

  get presses(): number {
    return this.#presses;
  }

  /** From now on a target may run that this command does not know yet. */
  beginning(): void {
    this.#state = "beginning";
  }

  began(target: T): void {
    this.#state = { target };
    if (this.#presses > 0) this.#sending.push(this.#ends.ask(target));
  }

  /** Resolves when nothing is being sent. */
  async told(): Promise<void> {
    await Promise.all(this.#sending);
  }

  /** Stops listening; resolves when nothing is being sent any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten();
    await this.told();
  }

  #press(): void {
    this.#presses++;
    const state = this.#state;
    if (this.#presses > 2 || state === "connecting") this.#abandon.abort();
    else if (state === "beginning") {
      if (this.#presses === 2) this.#abandon.abort();
    } else if (this.#presses === 1) this.#sending.push(this.#ends.ask(state.target));
    else this.#sending.push(this.#insist(state.target));
  }

  async #insist(target: T): Promise<void> {
    await this.#ends.insist(target);
    this.#abandon.abort();
  }
}
