/**
 * The labels of what a call may bring in. The process gets them as soon as any data has come in, before it can act on
 * the data, and not if none came in. An error counts as data if its message may contain foreign text.
 */
import { UnreadError } from "../../abi/errors.ts";
import type { Label } from "../../abi/labels.ts";

const MAX_CAUSES = 8;

export class Inflow {
  readonly labels: readonly Label[];
  readonly #add: (labels: readonly Label[]) => void;
  /** The program of the call reads by calls of its own, which are tracked separately. */
  #hasParts = false;
  /** The call opened a file: its data comes in with later reads. */
  #isOpen = false;

  /** `add` adds labels to the process; repeated labels have no effect. */
  constructor(labels: readonly Label[], add: (labels: readonly Label[]) => void) {
    this.labels = labels;
    this.#add = add;
  }

  /** The inflow of a call made by the program that this call runs. */
  part(labels: readonly Label[]): Inflow {
    this.#hasParts = true;
    return new Inflow(labels, this.#add);
  }

  opened(): void {
    this.#isOpen = true;
  }

  /** Data was read. */
  came(): void {
    if (!this.#hasParts) this.#add(this.labels);
  }

  /** The call has ended; with `error`, it failed. */
  ended(error?: unknown): void {
    if (this.#isOpen && error === undefined) return;
    if (error === undefined || !isUnread(error)) this.came();
  }

  /** A read failed without data. */
  failed(error: unknown): void {
    if (!isUnread(error)) this.came();
  }
}

function isUnread(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < MAX_CAUSES; at = at.cause, depth++)
    if (at instanceof UnreadError) return true;
  return false;
}
