/**
 * A token bucket of one flow: it refills continuously and holds one sixth of a minute. A request larger than the bucket
 * is let through when the bucket is full, and leaves it below zero: nothing else passes until that is made up for.
 */
import type { LaneReading } from "../../abi/lanes.ts";

const MINUTE_MS = 60_000;
/** The share of a minute that may be used at once. */
const BURST = 1 / 6;

export class Bucket {
  readonly #stated: number | undefined;
  #perMinute: number;
  #level: number;
  #atMs: number;

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
    return Math.max(1, this.#perMinute * BURST);
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

  /** Follows what the server says: its limit, and a level that is lower than ours. */
  read({ limit, remaining }: LaneReading, nowMs: number): void {
    const level = this.level(nowMs);
    if (limit !== undefined && limit > 0) this.#perMinute = Math.min(limit, this.#stated ?? limit);
    this.#set(remaining === undefined ? level : Math.min(level, remaining), nowMs);
  }

  #set(level: number, nowMs: number): void {
    this.#level = Math.min(this.size, level);
    this.#atMs = nowMs;
  }
}
