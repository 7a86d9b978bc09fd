/** A map and a set that are made with their first entry: of the many that each agent has, most stay empty, and a bare Map takes 184 bytes. */

export class LateMap<K, V> implements Iterable<[K, V]> {
  #made: Map<K, V> | undefined;

  get size(): number {
    return this.#made?.size ?? 0;
  }

  get(key: K): V | undefined {
    return this.#made?.get(key);
  }

  has(key: K): boolean {
    return this.#made?.has(key) ?? false;
  }

  set(key: K, value: V): void {
    this.#made ??= new Map();
    this.#made.set(key, value);
  }

  delete(key: K): boolean {
    return this.#made?.delete(key) ?? false;
  }

  clear(): void {
    this.#made?.clear();
  }

  keys(): IteratorObject<K> {
    return this.#made?.keys() ?? [].values();
  }

  values(): IteratorObject<V> {
    return this.#made?.values() ?? [].values();
  }

  [Symbol.iterator](): IteratorObject<[K, V]> {
    return (this.#made ?? [])[Symbol.iterator]();
  }
}

export class LateSet<T> implements Iterable<T> {
  #made: Set<T> | undefined;

  get size(): number {
    return this.#made?.size ?? 0;
  }

  has(value: T): boolean {
    return this.#made?.has(value) ?? false;
  }

  add(value: T): void {
    this.#made ??= new Set();
    this.#made.add(value);
  }

  delete(value: T): boolean {
    return this.#made?.delete(value) ?? false;
  }

  clear(): void {
    this.#made?.clear();
  }

  [Symbol.iterator](): IteratorObject<T> {
    return (this.#made ?? [])[Symbol.iterator]();
  }
}
