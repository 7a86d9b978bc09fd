/** When a daemon that nobody uses stops. */
import type { Clock } from "../abi/program.ts";

export const DEFAULT_IDLE_TIMEOUT = 60_000;
const IDLE_CHECK_EVERY = 5_000;

/** What a check sees. `accepted` tells of connections that came and went between two checks. */
interface Use {
  readonly active: number;
  readonly connections: number;
  readonly accepted: number;
}

/** Counts from the first check that found nothing, so it never stops early: 60 to 65 s after the last use. */
export class IdleWatch {
  readonly #clock: Pick<Clock, "mono" | "sleep">;
  readonly #timeoutMs: () => number;
  #since: number | undefined;
  #accepted = 0;

  /** `timeoutMs` is asked at each check; 0 is never. */
  constructor(clock: Pick<Clock, "mono" | "sleep">, timeoutMs: () => number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves when the daemon has been unused for its time; rejects when `signal` fires. */
  async untilIdle(look: () => Use, signal: AbortSignal): Promise<void> {
    // a shorter time is checked as often as it is long
    const every = () => Math.min(IDLE_CHECK_EVERY, this.#timeoutMs() || IDLE_CHECK_EVERY);
    do await this.#clock.sleep(every(), signal);
    while (!this.#isOver(look()));
  }

  #isOver(use: Use): boolean {
    const [now, timeoutMs] = [this.#clock.mono(), this.#timeoutMs()];
    const used = use.active > 0 || use.connections > 0 || use.accepted !== this.#accepted;
    this.#accepted = use.accepted;
    if (used) this.#since = undefined;
    else this.#since ??= now;
    return timeoutMs > 0 && this.#since !== undefined && now - this.#since >= timeoutMs;
  }
}
