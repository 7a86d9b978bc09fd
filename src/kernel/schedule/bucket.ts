/**
 * A token bucket of one flow: it refills continuously and holds one sixth of a minute. A request larger than the bucket
 * is let through when the bucket is full, and leaves it below zero: nothing else passes until that is made up for.
 */
const MINUTE_MS = 60_000;
/** The share of a minute that may be used at once. */
const BURST = 1 / 6;

/** The state of a bucket just after a charge. */
export interface Mark {
  readonly level: number;
  readonly amount: number;
  readonly wasFull: boolean;
  readonly corrected: number;
}

export class Bucket {
  readonly #stated: number | undefined;
  #perMinute: number;
  #level: number;
  #atMs: number;
  /** All that answers of the server have taken from the level. */
  #corrected = 0;
  /** What the server's own bucket holds, as far as is known. */
  #most = Infinity;

  /** `stated`: the limit in the settings; a server can only lower it. undefined: the server alone says. */
  constructor(stated: number | undefined, perMinute: number, nowMs: number) {
    this.#stated = stated;
    this.#perMinute = perMinute;
    this.#level = this.size;
    this.#atMs = nowMs;
  }

  get perMinute(): number {
    return this.#perMinute;
  }

  /** The most that it holds; one request always fits. */
  get size(): number {
    return Math.max(1, Math.min(this.#most, this.#perMinute * BURST));
  }

  level(nowMs: number): number {
    const gained = (Math.max(0, nowMs - this.#atMs) * this.#perMinute) / MINUTE_MS;
    return Math.min(this.size, this.#level + gained);
  }

  /** The time at which it lets this amount through; `nowMs` if it does now. */
  readyAtMs(amount: number, nowMs: number): number {
    const missing = Math.min(amount, this.size) - this.level(nowMs);
    return missing <= 0 ? nowMs : nowMs + Math.ceil((missing * MINUTE_MS) / this.#perMinute);
  }

  /** Takes an amount; a negative one gives back. */
  take(amount: number, nowMs: number): void {
    this.#set(this.level(nowMs) - amount, nowMs);
  }

  /** Takes what an attempt is charged; the mark says how things stood then. */
  charge(amount: number, nowMs: number): Mark {
    const before = this.level(nowMs);
    this.take(amount, nowMs);
    return { level: before - amount, amount, wasFull: before >= this.size, corrected: this.#corrected };
  }

  /** For an attempt that began before there was this bucket. */
  mark(nowMs: number): Mark {
    return { level: this.level(nowMs), amount: 0, wasFull: false, corrected: 0 };
  }

  /** A limit that the server states. */
  limit(perMinute: number): void {
    this.#perMinute = Math.min(perMinute, this.#stated ?? perMinute);
  }

  /**
   * What the server had left when the attempt of this mark came in. Its answer comes much later: what has flowed in since,
   * and what other answers have corrected since, must not count twice. A full bucket that the server knows as a smaller
   * one is as small as that.
   */
  remains(remaining: number, mark: Mark, nowMs: number): void {
    const had = remaining + mark.amount;
    this.#most = Math.max(this.#most, had);
    const missing = mark.level - remaining - (this.#corrected - mark.corrected);
    if (missing <= 0) return;
    const level = this.level(nowMs) - missing;
    this.#corrected += missing;
    // only what is clearly smaller, and a second's worth at least: else a late grant would lose a part of the rate
    if (mark.wasFull && missing > this.size / 2) this.#most = Math.max(had, this.#perMinute / 60);
    this.#set(level, nowMs);
  }

  #set(level: number, nowMs: number): void {
    this.#level = Math.min(this.size, level);
    this.#atMs = nowMs;
  }
}
