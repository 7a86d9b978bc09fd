/** A ring buffer of at most `capacity` bytes; its memory is allocated at the first write. */
export class ByteRing {
  readonly #capacity: number;
  #memory: Buffer | null = null;
  #head = 0;
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  get room(): number {
    return this.#capacity - this.#size;
  }

  /** Stores as much of `data` as there is room for, and returns that number of bytes. */
  put(data: Uint8Array): number {
    this.#memory ??= Buffer.allocUnsafeSlow(this.#capacity);
    const count = Math.min(data.byteLength, this.room);
    const at = (this.#head + this.#size) % this.#capacity;
    const first = Math.min(count, this.#capacity - at);
    this.#memory.set(data.subarray(0, first), at);
    this.#memory.set(data.subarray(first, count), 0);
    this.#size += count;
    return count;
  }

  /** Removes the oldest bytes, at most `length`, and returns a copy. */
  get(length: number): Uint8Array {
    const count = Math.min(length, this.#size);
    const taken = new Uint8Array(count);
    if (this.#memory === null) return taken;
    const first = Math.min(count, this.#capacity - this.#head);
    taken.set(this.#memory.subarray(this.#head, this.#head + first));
    taken.set(this.#memory.subarray(0, count - first), first);
    this.#head = (this.#head + count) % this.#capacity;
    this.#size -= count;
    return taken;
  }

  /** Drops all bytes and frees the memory. */
  clear(): void {
    this.#memory = null;
    this.#size = 0;
  }
}
