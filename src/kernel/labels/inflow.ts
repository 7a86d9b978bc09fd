/**
 * What a call may bring in, and whether it has: its process has the labels as soon as something came, before it can act on it,
 * and never for what did not come. A failure whose words may be foreign counts as something.
 */
import { UnreadError } from "../../abi/errors.ts";
import type { Label } from "../../abi/labels.ts";

const MAX_CAUSES = 8;

export class Inflow {
  readonly labels: readonly Label[];
  readonly #add: (labels: readonly Label[]) => void;
  /** Its program reads by calls of its own, each of which is known. */
  #hasParts = false;
  /** An open file: what comes, comes with its reads. */
  #isOpen = false;

  /** `add`: to the process; the same again adds nothing. */
  constructor(labels: readonly Label[], add: (labels: readonly Label[]) => void) {
    this.labels = labels;
    this.#add = add;
  }

  /** A call of the program that the call runs. */
  part(labels: readonly Label[]): Inflow {
    this.#hasParts = true;
    return new Inflow(labels, this.#add);
  }

  opened(): void {
    this.#isOpen = true;
  }

  /** Bytes of it were read. */
  came(): void {
    if (!this.#hasParts) this.#add(this.labels);
  }

  /** `error`: it failed. */
  ended(error?: unknown): void {
    if (this.#isOpen && error === undefined) return;
    if (error === undefined || !isUnread(error)) this.came();
  }

  /** A read failed; nothing of it came. */
  failed(error: unknown): void {
    if (!isUnread(error)) this.came();
  }
}

function isUnread(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < MAX_CAUSES; at = at.cause, depth++)
    if (at instanceof UnreadError) return true;
  return false;
}
