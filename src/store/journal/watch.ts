/** Checks the commit in progress once a second: a slow commit is reported, a hanging one is a fault. */
import type { JournalClock } from "./journal-clock.ts";

const SLOW_MS = 1_000;
const HUNG_MS = 30_000;

interface LateCommit {
  /** Called at most once per commit. */
  onSlow(ms: number): void;
  onHung(): void;
}

export class Watch {
  readonly #clock: JournalClock;
  readonly #signal: AbortSignal;
  readonly #late: LateCommit;
  /** Monotonic start of the commit in progress, ms. */
  #begunAt: number | undefined;
  #isTold = false;
  #isWatching = false;

  constructor(clock: JournalClock, signal: AbortSignal, late: LateCommit) {
    this.#clock = clock;
    this.#signal = signal;
    this.#late = late;
  }

  begin(): void {
    this.#begunAt = this.#clock.mono();
    this.#isTold = false;
    if (!this.#isWatching) void this.#look();
  }

  end(): void {
    this.#begunAt = undefined;
  }

  async #look(): Promise<void> {
    this.#isWatching = true;
    try {
      while (this.#begunAt !== undefined) {
        await this.#clock.sleep(SLOW_MS, this.#signal);
        this.#judge();
      }
    } catch {
      // the journal is closed
    } finally {
      this.#isWatching = false;
    }
  }

  #judge(): void {
    if (this.#begunAt === undefined) return;
    const ms = this.#clock.mono() - this.#begunAt;
    if (ms >= SLOW_MS && !this.#isTold) {
      this.#isTold = true;
      this.#late.onSlow(ms);
    }
    if (ms >= HUNG_MS) this.#late.onHung();
  }
}
