/** Looks at the commit under way once a second, with one timer for all of them: a slow one is told, one that hangs is a fault. */
import { JournalFault } from "./fault.ts";
import type { JournalClock } from "./journal-clock.ts";
import type { OnNotice } from "./notice.ts";

const SLOW_MS = 1_000;
const HUNG_MS = 30_000;

export class Watch {
  readonly #path: string;
  readonly #clock: JournalClock;
  readonly #signal: AbortSignal;
  readonly #onNotice: OnNotice;
  readonly #onHung: (fault: JournalFault) => void;
  /** Monotonic start of the commit under way. */
  #begunAt: number | undefined;
  #isTold = false;
  #isWatching = false;

  constructor(
    path: string,
    clock: JournalClock,
    signal: AbortSignal,
    onNotice: OnNotice,
    onHung: (fault: JournalFault) => void,
  ) {
    this.#path = path;
    this.#clock = clock;
    this.#signal = signal;
    this.#onNotice = onNotice;
    this.#onHung = onHung;
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
      const message = `a commit to ${this.#path} has taken over ${Math.floor(ms / 1000)} s`;
      this.#onNotice({ event: "journal.slow", message });
    }
    if (ms >= HUNG_MS) this.#onHung(new JournalFault("journal_slow", `${this.#path}: a commit hangs`));
  }
}
