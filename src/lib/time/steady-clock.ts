/**
 * The machine's clocks without the time in which this process could not run: stopped, its container frozen, its machine
 * suspended. Timeouts and measurements by this clock do not expire in that time, nor soon after it: a sleep that came
 * due meanwhile, or comes due at once, gets `graceMs` more (but never more than its whole length).
 *
 * How a gap is found: while there is a watcher, by a tick once a second; otherwise by a sleep that ends late. A process
 * without a watcher that sleeps for an hour therefore counts the time it was frozen within that hour.
 */
import { abortable } from "../abort.ts";
import { MAX_TIMER_MS } from "./max-timer.ts";

/** The platform's clocks and timers; a test passes its own. */
export interface Machine {
  /** Wall clock, ms since the epoch; may jump. */
  now(): number;
  /** Monotonic ms with a fraction; advances while the process is stopped. */
  mono(): number;
  /**
   * Calls `act` once after `ms`, at most 24.8 days; the returned function cancels. Without `keepsAlive` the process may
   * end before it.
   */
  after(ms: number, act: () => void, keepsAlive: boolean): () => void;
}

export interface Gap {
  /** How long the process did not run, ms; 0: only the wall clock has moved. */
  readonly gapMs: number;
  /** How far the wall clock moved relative to the monotonic one, ms: positive is ahead, negative behind. */
  readonly jumpMs: number;
}

interface SteadyLimits {
  /** Smallest gap or jump that counts, ms; a shorter one may be a busy machine. */
  readonly gapMs: number;
  readonly graceMs: number;
}

const LIMITS: SteadyLimits = { gapMs: 5_000, graceMs: 2_000 };
const TICK_MS = 1_000;
/** How early a platform timer may fire, ms. */
const EARLY_MS = 1;

export class SteadyClock {
  readonly #machine: Machine;
  readonly #limits: SteadyLimits;
  readonly #listeners = new Set<(gap: Gap) => void>();
  readonly #sleeps = new Set<Pending>();
  #watchers = 0;
  #endTick: () => void = () => {};
  /** By the machine's monotonic clock: the last reading. `#woken` is the end of the last gap. */
  #seen: number;
  #woken = Number.NEGATIVE_INFINITY;
  #frozenMs = 0;
  /** Wall clock minus monotonic clock, ms. */
  #apartMs: number;

  constructor(machine: Machine = platform, limits: SteadyLimits = LIMITS) {
    this.#machine = machine;
    this.#limits = limits;
    this.#seen = machine.mono();
    this.#apartMs = machine.now() - this.#seen;
  }

  /** Wall clock, milliseconds since the epoch. */
  now(): number {
    return this.#machine.now();
  }

  /** Monotonic milliseconds with a fraction, without gaps. */
  mono(): number {
    return this.#look() - this.#frozenMs;
  }

  /** Sleeps `ms` by `mono()`. Leaves neither timer nor listener. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun = this.#look();
    const due = begun - this.#frozenMs + ms;
    let cancel = (): void => {};
    const pending: Pending = { firesAt: begun };
    this.#sleeps.add(pending);
    const wait = (leftMs: number): void => {
      const timerMs = Math.min(leftMs, MAX_TIMER_MS);
      pending.firesAt = this.#machine.mono() + timerMs;
      cancel = this.#machine.after(
        timerMs,
        () => {
          const left = this.#leftMs(begun, due, ms);
          if (left > EARLY_MS) wait(left);
          else resolve();
        },
        true,
      );
    };
    wait(ms);
    try {
      await (signal === undefined ? promise : abortable(promise, signal));
    } finally {
      cancel();
      this.#sleeps.delete(pending);
    }
  }

  /** Calls `listener` at each gap and jump from now on. The returned function unregisters it. */
  onGap(listener: (gap: Gap) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Ticks as long as there is a watcher; the tick does not keep the process alive. The returned function ends the
   * watch; it may be called twice.
   */
  watch(): () => void {
    let isOver = false;
    if (this.#watchers++ === 0) {
      this.#seen = this.#machine.mono();
      this.#tick();
    }
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#watchers === 0) this.#endTick();
    };
  }

  #tick(): void {
    const apartMs = this.#machine.now() - this.#look();
    if (Math.abs(apartMs - this.#apartMs) > this.#limits.gapMs) this.#tell(0);
    else this.#apartMs = apartMs;
    this.#endTick = this.#machine.after(TICK_MS, () => this.#tick(), false);
  }

  /** The machine's monotonic time. */
  #look(): number {
    const mono = this.#machine.mono();
    const before = this.#seen;
    this.#seen = mono;
    if (mono - before > this.#limits.gapMs) this.#notice(mono, before);
    return mono;
  }

  /** Handles a long time without a reading. It is a gap only if a tick or a sleep was due in that time. */
  #notice(mono: number, before: number): void {
    let from = this.#watchers > 0 ? before : mono;
    for (const { firesAt } of this.#sleeps) from = Math.min(from, firesAt);
    const gapMs = mono - Math.max(from, before);
    if (gapMs > this.#limits.gapMs) this.#wake(mono, gapMs);
  }

  #leftMs(begun: number, due: number, ms: number): number {
    const mono = this.#look();
    const graceMs = begun < this.#woken ? this.#woken + Math.min(this.#limits.graceMs, ms) - mono : 0;
    return Math.max(due + this.#frozenMs - mono, graceMs);
  }

  #wake(mono: number, gapMs: number): void {
    this.#frozenMs += gapMs;
    this.#woken = mono;
    this.#tell(gapMs);
  }

  #tell(gapMs: number): void {
    const apartMs = this.#machine.now() - this.#seen;
    const jumpMs = apartMs - this.#apartMs;
    this.#apartMs = apartMs;
    const told = Math.abs(jumpMs) > this.#limits.gapMs ? jumpMs : 0;
    for (const listener of this.#listeners) listener({ gapMs: Math.round(gapMs), jumpMs: Math.round(told) });
  }
}

/** A pending sleep: when its timer is due, by the machine's monotonic clock. */
interface Pending {
  firesAt: number;
}

const platform: Machine = {
  now: () => Date.now(),
  // as performance.now(), which a client would have to load first
  mono: () => process.uptime() * 1000,
  after: (ms, act, keepsAlive) => {
    const timer = setTimeout(act, ms);
    if (!keepsAlive) timer.unref();
    return () => clearTimeout(timer);
  },
};
