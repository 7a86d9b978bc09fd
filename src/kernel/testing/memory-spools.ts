/** Spools in memory, for tests of the kernel. */

import { Fault } from "../../abi/errors.ts";
import { abortable } from "../../lib/abort.ts";
import type {
  BlockReader,
  KeptSpool,
  OnFull,
  Spool,
  SpoolReader,
  SpoolStore,
  Unfinished,
} from "../ports/spools.ts";

export class MemorySpools implements SpoolStore {
  readonly spools = new Map<string, MemorySpool>();

  open(name: string, onFull: OnFull): Spool {
    const spool = new MemorySpool(onFull, () => this.spools.delete(name));
    this.spools.set(name, spool);
    return spool;
  }

  find(name: string): SpoolReader | undefined {
    return this.spools.get(name)?.reader(0);
  }

  past(name: string): KeptSpool | undefined {
    return this.spools.get(name);
  }

  unfinished(): readonly Unfinished[] {
    return [...this.spools].flatMap(([name, spool]) =>
      spool.words === null ? [] : [new Rest(name, spool.words, spool)],
    );
  }
}

class Rest implements Unfinished {
  readonly name: string;
  readonly note: string;
  readonly #spool: MemorySpool;

  constructor(name: string, note: string, spool: MemorySpool) {
    this.name = name;
    this.note = note;
    this.#spool = spool;
  }

  finish(rest: Uint8Array): void {
    this.#spool.note(null);
    this.#spool.write(rest);
  }
}

const LIMIT = 64 * 1024 * 1024;

class MemorySpool implements Spool {
  readonly droppedBytes = 0;
  readonly oldest = 0;
  beforeRead: (() => void) | undefined;
  words: string | null = null;
  /** The number of open readers. */
  readers = 0;
  readonly onFull: OnFull;
  /** Tests may replace it. */
  room: Spool["room"] = () => undefined;
  readonly #onRemove: () => void;
  #data = Buffer.alloc(0);
  #isEnded = false;
  #more = Promise.withResolvers<void>();

  constructor(onFull: OnFull, onRemove: () => void) {
    this.onFull = onFull;
    this.#onRemove = onRemove;
  }

  get bytes(): number {
    return this.#data.length;
  }

  write(chunk: Uint8Array): void {
    if (this.onFull === "refuse" && this.bytes + chunk.length > LIMIT)
      throw new Fault({ code: "UNAVAILABLE", message: "pipe spool full" });
    this.#data = Buffer.concat([this.#data, chunk]);
    this.#wake();
  }

  get isRead(): boolean {
    return this.readers > 0;
  }

  recent(from: number, into: Buffer): number {
    return this.#data.copy(into, 0, from);
  }

  note(words: string | null): void {
    this.words = words;
  }

  end(): void {
    this.words = null;
    this.#isEnded = true;
    this.#wake();
  }

  reader(from: number): BlockReader {
    this.beforeRead?.();
    let at = from;
    this.readers++;
    const left = (): number => this.#data.length - at;
    const read = async (length: number, signal: AbortSignal): Promise<Buffer> => {
      while (left() <= 0 && !this.#isEnded) await abortable(this.#more.promise, signal);
      const chunk = this.#data.subarray(at, at + length);
      at += chunk.length;
      return chunk;
    };
    return {
      get position() {
        return at;
      },
      get available() {
        return left();
      },
      read,
      readInto: async (length, signal, lend) => {
        const chunk = await read(length, signal);
        at -= chunk.length;
        let from = 0;
        for (const place of chunk.length > 0 ? lend(chunk.length) : []) from += chunk.copy(place, 0, from);
        at += from;
        return from;
      },
      close: () => {
        this.readers--;
      },
    };
  }

  async remove(): Promise<void> {
    this.end();
    this.#onRemove();
  }

  #wake(): void {
    this.#more.resolve();
    this.#more = Promise.withResolvers<void>();
  }
}
