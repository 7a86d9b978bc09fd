/** When a daemon that nobody uses stops. */
import type { Clock } from "../abi/program.ts";

export const DEFAULT_IDLE_TIMEOUT = 60_000;
const IDLE_CHECK_EVERY = 5_000;

/** What a check sees. `accepted` tells of connections that came and went between two checks. */
export interface Use {
  readonly active: number;
  readonly connections: number;
  readonly accepted: number;
}

/** Counts from the first check that found nothing, so it never stops early: 60 to 65 s after the last use. */
class IdleWatch {
  #since: number | undefined;
  #accepted = 0;

  /** True: over `timeoutMs` unused; 0 is never. */
  check(use: Use, now: number, timeoutMs: number): boolean {
    const used = use.active > 0 || use.connections > 0 || use.accepted !== this.#accepted;
    this.#accepted = use.accepted;
    if (used) this.#since = undefined;
    else this.#since ??= now;
    return timeoutMs > 0 && this.#since !== undefined && now - this.#since >= timeoutMs;
  }
}

/** Resolves when the daemon has been unused for its time; rejects when `signal` fires. Settings are asked each time. */
export async function untilIdle(
  look: () => Use,
  timeoutMs: () => number,
  clock: Pick<Clock, "mono" | "sleep">,
  signal: AbortSignal,
): Promise<void> {
  const watch = new IdleWatch();
  // a shorter time is checked as often as it is long
  const every = () => Math.min(IDLE_CHECK_EVERY, timeoutMs() || IDLE_CHECK_EVERY);
  do await clock.sleep(every(), signal);
  while (!watch.check(look(), clock.mono(), timeoutMs()));
}
