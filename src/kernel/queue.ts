/**
 * A bounded queue with one reader. `push` never waits and never throws. When full, the first losable element is
 * dropped, otherwise the new one if it is losable; both are counted in `dropped`. Elements that may not be lost are
 * bounded by their kind (one completion, at most 64 questions a process).
 */
import type { Subscription } from "./ports/subscription.ts";

interface QueueOptions<T> {
  readonly capacity: number;
  /** `oldest`: make room by dropping the first losable element; `newest`: drop the new one. */
  readonly drop: "oldest" | "newest";
  readonly losable: (item: T) => boolean;
  /** Tried first when the queue is full: the last element and the new one as one; undefined: they stay two. */
  readonly join?: (last: T, item: T) => T | undefined;
  readonly onClose?: () => void;
}

export class Queue<T> implements Subscription<T> {
  readonly #options: QueueOptions<T>;
  #items: T[] = [];
  #wake: (() => void) | null = null;
  #ended = false;
  #closed = false;
  #dropped = 0;

  constructor(options: QueueOptions<T>) {
    this.#options = options;
  }

  get dropped(): number {
    return this.#dropped;
  }

  push(item: T): void {
    if (this.#ended) return;
    const isFull = this.#items.length >= this.#options.capacity;
    if (isFull && this.#joins(item)) return;
    if (isFull && !this.#makeRoom(item)) {
      this.#dropped++;
      return;
    }
    this.#items.push(item);
    this.#signal();
  }

  /** No more elements will come; the reader still gets the queued ones. */
  end(): void {
    this.#ended = true;
    this.#signal();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ended = true;
    this.#items = [];
    this.#signal();
    this.#options.onClose?.();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      const batch = this.#items;
      this.#items = [];
      yield* batch;
      if (this.#items.length > 0) continue;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #joins(item: T): boolean {
    const last = this.#items.at(-1);
    const both = last === undefined ? undefined : this.#options.join?.(last, item);
    if (both === undefined) return false;
    this.#items[this.#items.length - 1] = both;
    return true;
  }

  #makeRoom(item: T): boolean {
    const { drop, losable } = this.#options;
    if (drop === "newest") return !losable(item);
    const at = this.#items.findIndex(losable);
    if (at < 0) return !losable(item);
    this.#items.splice(at, 1);
    this.#dropped++;
    return true;
  }

  #signal(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
