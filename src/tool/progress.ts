/**
 * Progress of one call: at most one frame a second, always the newest. A slow reader loses progress, never the result.
 */
import type { Progress, ToolFrame } from "../abi/tool.ts";
import { ABORTED } from "../lib/abort.ts";

const FRAME_MS = 1000;

export interface ProgressClock {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export class ProgressFeed {
  readonly #clock: ProgressClock;
  readonly #told: ((told: Progress) => void) | undefined;
  readonly #ended = new AbortController();
  /** Reported, and not yet due. */
  #next: Progress | null = null;
  /** Due, but not yet read. */
  #due: Progress | null = null;
  #isCooling = false;
  #wake = Promise.withResolvers<void>();

  /** `due`: called with each frame as it becomes due, read or not. */
  constructor(clock: ProgressClock, due?: (told: Progress) => void) {
    this.#clock = clock;
    this.#told = due;
  }

  tell(told: Progress): void {
    if (this.#ended.signal.aborted) return;
    this.#next = told;
    if (!this.#isCooling) this.#release();
  }

  /** Resolves when a frame is due, or the call has ended. */
  get changed(): Promise<void> {
    return this.#due !== null || this.#ended.signal.aborted ? Promise.resolve() : this.#wake.promise;
  }

  /** Returns the due frame, once. */
  take(): Buffer | null {
    if (this.#due === null) return null;
    const frame: ToolFrame = { ...this.#due, type: "progress" };
    this.#due = null;
    this.#wake = Promise.withResolvers();
    return Buffer.from(`${JSON.stringify(frame)}\n`);
  }

  /** Unread frames are dropped. */
  end(): void {
    this.#ended.abort(ABORTED);
    this.#due = null;
    this.#wake.resolve();
  }

  #release(): void {
    if (this.#next === null) return;
    this.#due = this.#next;
    this.#told?.(this.#next);
    this.#next = null;
    this.#isCooling = true;
    this.#wake.resolve();
    void this.#cool();
  }

  /** Ends no later than the call. */
  async #cool(): Promise<void> {
    await this.#clock.sleep(FRAME_MS, this.#ended.signal).catch(() => undefined);
    this.#isCooling = false;
    if (!this.#ended.signal.aborted) this.#release();
  }
}
