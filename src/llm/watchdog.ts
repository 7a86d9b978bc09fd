/** A timer over a stream, since a dead connection sends no event that could be checked for lateness. */
import type { Stall, StreamEvent } from "../abi/llm.ts";
import { LlmError } from "../abi/llm-error.ts";
import type { Clock } from "../abi/program.ts";
import { startTimer } from "./timer.ts";

export interface Patience {
  readonly firstMs: number;
  readonly gapMs: number;
}

/** A silence within a reply that is longer is reported once it is over; it ends nothing, since a model may think so long. */
const STALL_MS = 30_000;

interface Watch {
  readonly patience: Patience;
  readonly clock: Clock;
  readonly device: string;
  /** Absent: nobody is told. */
  readonly stalled?: ((stall: Stall) => void) | undefined;
}

const defaultGapMs = 90_000;

/**
 * The limits from `CRUX_STREAM_IDLE_TIMEOUT_MS`, or the default if invalid, which is `silenceMs` where a vendor's models
 * may think so long in silence. A local model may first load for minutes.
 */
export function patienceOf(
  env: Readonly<Record<string, string>>,
  {
    isLocal,
    silenceMs = defaultGapMs,
  }: { readonly isLocal: boolean; readonly silenceMs?: number | undefined },
): Patience {
  const value = Number(env.CRUX_STREAM_IDLE_TIMEOUT_MS);
  const gapMs = Number.isFinite(value) && value >= 1 ? value : silenceMs;
  return { gapMs, firstMs: isLocal ? Math.max(gapMs, 600_000) : gapMs };
}

/**
 * The events of `source`. Silence ends the attempt through `abort`: with `timeout` before the first event,
 * `stream_stalled` after it; a ping counts as an event. Time in which the consumer does not ask for events does not
 * count.
 */
export async function* watched(
  source: AsyncIterable<StreamEvent>,
  watch: Watch,
  abort: (reason: LlmError) => void,
): AsyncGenerator<StreamEvent> {
  const iterator = source[Symbol.asyncIterator]();
  const silence = new Silence(watch, abort);
  try {
    for (;;) {
      silence.begin();
      const step = await iterator.next();
      if (step.done === true) return;
      silence.end();
      yield step.value;
    }
  } finally {
    silence.stop();
    await iterator.return?.();
  }
}

/**
 * One timer for a whole attempt: an event only records its time, and the timer, when due, checks how long ago that was.
 */
class Silence {
  readonly #watch: Watch;
  readonly #abort: (reason: LlmError) => void;
  #hasEvent = false;
  #stalls = 0;
  #stalledMs = 0;
  /** When waiting began, by `mono()`; undefined: not waiting for an event. */
  #since: number | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(watch: Watch, abort: (reason: LlmError) => void) {
    this.#watch = watch;
    this.#abort = abort;
  }

  begin(): void {
    this.#since = this.#watch.clock.mono();
    if (this.#stopTimer === undefined) this.#arm(this.#limitMs);
  }

  end(): void {
    const durationMs = this.#since === undefined ? 0 : this.#watch.clock.mono() - this.#since;
    this.#since = undefined;
    if (this.#hasEvent) {
      if (durationMs > STALL_MS) this.#tell(durationMs);
      return;
    }
    this.#hasEvent = true;
    // the limit before the first event may be longer than the limit from now on
    this.stop();
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #tell(durationMs: number): void {
    this.#stalls += 1;
    this.#stalledMs += durationMs;
    this.#watch.stalled?.({ durationMs, count: this.#stalls, totalMs: this.#stalledMs });
  }

  get #limitMs(): number {
    const { firstMs, gapMs } = this.#watch.patience;
    return this.#hasEvent ? gapMs : firstMs;
  }

  #arm(ms: number): void {
    this.#stopTimer = startTimer(this.#watch.clock, ms, () => this.#due());
  }

  #due(): void {
    const { clock, device } = this.#watch;
    const ms = this.#limitMs;
    const leftMs = this.#since === undefined ? ms : this.#since + ms - clock.mono();
    if (leftMs > 0) {
      this.#arm(leftMs);
      return;
    }
    const kind = this.#hasEvent ? "stream_stalled" : "timeout";
    const message = this.#hasEvent ? `no event for ${ms / 1000} s` : `no first event within ${ms / 1000} s`;
    this.#abort(new LlmError({ kind, device, message }));
  }
}
