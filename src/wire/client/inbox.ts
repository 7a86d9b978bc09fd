/**
 * What a subscription has sent, between the connection and its only reader: as much as its window lets come. What is read
 * makes room for more; a part of the window at a time, so that few messages say so.
 */

const PARTS = 8;

interface InboxRules<T> {
  readonly window: number;
  /** How much of the window an item takes. */
  weigh(item: T): number;
  allow(amount: number): void;
  /** The reader has stopped before the end. */
  leave(): void;
}

export class Inbox<T> implements AsyncIterable<T> {
  readonly #rules: InboxRules<T>;
  readonly #items: T[] = [];
  /** undefined: more may come; null: it has ended. */
  #end: Error | null | undefined;
  #wake: (() => void) | undefined;
  /** What was read and not allowed again. */
  #read = 0;

  constructor(rules: InboxRules<T>) {
    this.#rules = rules;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** What came before is read first. `error` null: the reader is told of an end. The first end counts. */
  end(error: Error | null): void {
    if (this.#end === undefined) this.#end = error;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    try {
      for (;;) {
        const item = this.#items.shift();
        if (item !== undefined) {
          yield item;
          this.#count(this.#rules.weigh(item));
        } else if (this.#end instanceof Error) throw this.#end;
        else if (this.#end === null) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      if (this.#end === undefined) this.#rules.leave();
    }
  }

  #count(amount: number): void {
    this.#read += amount;
    if (this.#read < this.#rules.window / PARTS) return;
    this.#rules.allow(this.#read);
    this.#read = 0;
  }
}
