/**
 * The machine's clocks without the time in which this process could not run: stopped, its container frozen, its machine
 * suspended. Whatever waits or measures by this clock gives up nothing in that time, and soon after it nothing that a running
 * program would not have: what was due meanwhile, or is due at once, gets `graceMs` more (never more than it had in all).
 *
 * How a gap is found: while somebody watches, a tick comes once a second; else a sleep that is late tells of it. A program that
 * nobody watches and that sleeps for an hour so counts what it was frozen in that hour.
 */
import { abortable } from "./abort.ts";

/** What the platform gives; a test gives its own. */
export interface Machine {
  /** Wall clock, ms since the epoch: may jump. */
  now(): number;
  /** Monotonic ms with a fraction: goes on while the process is stopped. */
  mono(): number;
  /** Calls `act` once after `ms`, at most 24.8 days; the result cancels. `keepsAlive` false: the process may end without it. */
  after(ms: number, act: () => void, keepsAlive: boolean): () => void;
}

export interface Gap {
  /** So long nothing ran; 0: the wall clock alone has moved. */
  readonly gapMs: number;
  /** How far the wall clock moved against the monotonic one: beyond it, or behind. */
  readonly jumpMs: number;
}

interface SteadyLimits {
  /** A gap or jump from here on counts; less is a busy machine. */
  readonly gapMs: number;
  readonly graceMs: number;
}

const LIMITS: SteadyLimits = { gapMs: 5_000, graceMs: 2_000 };
const TICK_MS = 1_000;
/** The longest delay a timer of the platform takes: a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** A timer of the platform may come so much early. */
const EARLY_MS = 1;

export class SteadyClock {
  readonly #machine: Machine;
  readonly #limits: SteadyLimits;
  readonly #listeners = new Set<(gap: Gap) => void>();
  readonly #sleeps = new Set<Pending>();
  #watchers = 0;
  #endTick: () => void = () => {};
  /** By the machine's monotonic clock: when we last looked, and when the last gap was over. */
  #seen: number;
  #woken = Number.NEGATIVE_INFINITY;
  #frozenMs = 0;
  /** Wall minus monotonic clock. */
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

  /** Monotonic milliseconds with a fraction, gaps left out. */
  mono(): number {
    return this.#look() - this.#frozenMs;
  }

  /** By `mono()`. Leaves neither timer nor listener. */
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

  /** Told of each gap and jump from now on, at once. The result ends it. */
  onGap(listener: (gap: Gap) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ticks as long as anybody watches. The tick keeps no process alive. The result ends it; twice is once. */
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

  /** Nobody looked for long. It is a gap only if somebody should have. */
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

/** When its timer is due, by the machine's monotonic clock. */
interface Pending {
  firesAt: number;
}

const platform: Machine = {
  now: () => Date.now(),
  mono: () => performance.now(),
  after: (ms, act, keepsAlive) => {
    const timer = setTimeout(act, ms);
    if (!keepsAlive) timer.unref();
    return () => clearTimeout(timer);
  },
};
