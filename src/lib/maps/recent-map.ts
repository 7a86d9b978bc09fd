import { LateMap } from "./late.ts";

/** A map with at most `max` entries; beyond that the least recently used is dropped. */
export class RecentMap<K, V> {
  readonly #max: number;
  readonly #entries = new LateMap<K, V>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the value and marks it as used. */
  use(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#max) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  /** The entries, least recently used first. */
  entries(): IteratorObject<[K, V]> {
    return this.#entries[Symbol.iterator]();
  }

  values(): IteratorObject<V> {
    return this.#entries.values();
  }
}
