/**
 * Ctrl-C while something runs elsewhere for this command. The first asks it to end, and its end is awaited as usual; the
 * second insists, and then the command leaves. Before there is anything to end, the first one leaves; while it is not known
 * yet what was begun, the first one waits for that, and the second leaves.
 */
import type { Interrupts } from "../terminal/interrupts.ts";

/** How long the last words of a second Ctrl-C may take before we leave anyway, in ms. */
export const LAST_WORDS_MS = 1_000;

/** What is done to what runs. Neither rejects. */
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
  /** At most one of each. */
  readonly #sending: Promise<void>[] = [];

  constructor(interrupts: Interrupts, ends: Ends<T>) {
    this.#ends = ends;
    this.#unlisten = interrupts.listen(() => this.#press());
  }

  /** Fires when the command is to leave, whatever becomes of what runs. */
  get abandoned(): AbortSignal {
    return this.#abandon.signal;
  }

  get presses(): number {
    return this.#presses;
  }

  /** From here on something may run that we do not know of yet. */
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
