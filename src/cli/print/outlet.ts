/**
 * Lines on their way to stdout. What stdout has not taken yet waits here; when that is much, `gate.hold` holds the run
 * back, and `gate.release` lets it go on. So the wait is bounded by what one reply and its calls can still say.
 */
import type { Console } from "../console.ts";

/** UTF-16 units that wait before the run is held, and at which it goes on. */
const HIGH = 256 * 1024;
const LOW = 64 * 1024;

export interface Gate {
  hold(): void;
  release(): void;
}

export class Outlet {
  readonly #console: Pick<Console, "raw">;
  readonly #gate: Gate;
  #waiting = 0;
  #isHeld = false;
  #last: Promise<void> = Promise.resolve();

  constructor(console: Pick<Console, "raw">, gate: Gate) {
    this.#console = console;
    this.#gate = gate;
  }

  /** Does not wait. */
  put(text: string): void {
    this.#waiting += text.length;
    this.#last = this.#console.raw(text).then(() => this.#taken(text.length));
    if (this.#waiting < HIGH || this.#isHeld) return;
    this.#isHeld = true;
    this.#gate.hold();
  }

  /** Resolves when stdout has taken everything. */
  flushed(): Promise<void> {
    return this.#last;
  }

  #taken(length: number): void {
    this.#waiting -= length;
    if (!this.#isHeld || this.#waiting > LOW) return;
    this.#isHeld = false;
    this.#gate.release();
  }
}
