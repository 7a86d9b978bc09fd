/**
 * A pipe: bytes from its writing ends to its reading end, in order. It holds `pipeBytes`; when full, its writers wait.
 * Writes take turns: none begins before the previous one is complete, so writes are never mixed. A write of up to
 * `pipeAtomicBytes` goes in as a whole or, if its writer gives up, not at all; a larger one goes in as room becomes
 * free.
 */
import type { Carried, OpenFile } from "../../abi/device.ts";
import { DriverError } from "../../abi/errors.ts";
import { reasonOf } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";

/** An end of a pipe. It carries the labels of what its writers have read to its reader. */
export interface PipeEnd extends OpenFile {
  readonly carried: Carried;
}

interface Pipe {
  /** Reads return 0 bytes once all writing ends are closed and everything written is read. */
  readonly reader: PipeEnd;
  /** Once the reading end is closed, writes fail with DRIVER `broken pipe`. */
  readonly writer: PipeEnd;
  /** Opens another writing end. */
  addWriter(): PipeEnd;
}

/** `path` names it in errors and listings: `pipe:[7]`. */
export function makePipe(path = "pipe"): Pipe {
  const channel = new Channel(path);
  const addWriter = (): PipeEnd => writingEnd(channel);
  return { reader: readingEnd(channel), writer: addWriter(), addWriter };
}

function readingEnd(channel: Channel): PipeEnd {
  return {
    carried: channel.carried,
    heedsSignal: true,
    read: (length, signal) => channel.read(length, signal),
    write: async () => {
      throw channel.fault("Write", "INVALID", "the reading end of a pipe");
    },
    close: async () => channel.closeReader(),
    stat: async () => channel.stat(),
  };
}

function writingEnd(channel: Channel): PipeEnd {
  const end = channel.addWriter();
  return {
    carried: channel.carried,
    read: async () => {
      throw channel.fault("Read", "INVALID", "the writing end of a pipe");
    },
    write: (data, act) => channel.write(end, data, act.signal),
    close: async () => channel.closeWriter(end),
    stat: async () => channel.stat(),
  };
}

type Writer = symbol;

/** A write that is not complete. */
interface Write {
  readonly writer: Writer;
  readonly data: Uint8Array;
  taken: number;
  /** Called once: the write is complete or has failed. */
  readonly settle: (error?: Error) => void;
}

/** A waiting read. */
interface Read {
  readonly length: number;
  readonly settle: (bytes: Uint8Array | Error) => void;
}

class Channel {
  readonly carried: Carried = { labels: [] };
  readonly #path: string;
  readonly #ring = new ByteRing(LIMITS.pipeBytes);
  /** Open writing ends. */
  readonly #writers = new Set<Writer>();
  /** Waiting writes and reads in order; at most one per end, as calls on one fd run one after another. */
  readonly #writes: Write[] = [];
  readonly #reads: Read[] = [];
  #isReaderGone = false;

  constructor(path: string) {
    this.#path = path;
  }

  addWriter(): Writer {
    const writer: Writer = Symbol("writer");
    this.#writers.add(writer);
    return writer;
  }

  /** The pipe owns `data` until the promise settles. */
  write(writer: Writer, data: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#isReaderGone) return Promise.reject(this.#broken());
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const settle = (error?: Error): void => {
      signal.removeEventListener("abort", giveUp);
      if (error === undefined) resolve();
      else reject(error);
    };
    const write: Write = { writer, data, taken: 0, settle };
    const giveUp = (): void => {
      this.#takeBack(write);
      this.#move();
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#writes.push(write);
    this.#move();
    return promise;
  }

  read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    if (signal.aborted) return Promise.reject(reasonOf(signal));
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    const settle = (bytes: Uint8Array | Error): void => {
      signal.removeEventListener("abort", giveUp);
      if (bytes instanceof Error) reject(bytes);
      else resolve(bytes);
    };
    const read: Read = { length, settle };
    const giveUp = (): void => {
      this.#reads.splice(this.#reads.indexOf(read), 1);
      settle(reasonOf(signal));
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#reads.push(read);
    this.#move();
    return promise;
  }

  /** Idempotent. */
  closeWriter(writer: Writer): void {
    if (!this.#writers.delete(writer)) return;
    for (const write of this.#writes.filter((each) => each.writer === writer)) this.#takeBack(write);
    this.#move();
  }

  /** Drops what was not read. Idempotent. */
  closeReader(): void {
    this.#isReaderGone = true;
    this.#ring.clear();
    for (const { settle } of this.#writes.splice(0)) settle(this.#broken());
    for (const { settle } of this.#reads.splice(0))
      settle(this.fault("Read", "CANCELLED", "the pipe was closed"));
  }

  stat() {
    return { name: "pipe", size: this.#ring.size, isDevice: false, devicePath: this.#path };
  }

  fault(op: "Read" | "Write", code: "INVALID" | "CANCELLED" | "DRIVER", message: string): DriverError {
    return new DriverError({ op, device: this.#path, code, message });
  }

  /** Cancels a write. The bytes already in the pipe stay; the error states their number. */
  #takeBack(write: Write): void {
    const { data, taken, settle } = write;
    this.#writes.splice(this.#writes.indexOf(write), 1);
    settle(
      this.fault("Write", "CANCELLED", `cancelled: ${taken} of ${data.byteLength} bytes went into the pipe`),
    );
  }

  #broken(): DriverError {
    return this.fault("Write", "DRIVER", "broken pipe");
  }

  /** Serves writes and reads until neither can proceed. */
  #move(): void {
    for (let moved = true; moved; ) moved = this.#letIn() || this.#giveOut();
  }

  #letIn(): boolean {
    const write = this.#writes[0];
    if (write === undefined) return false;
    const { data, taken, settle } = write;
    const left = data.byteLength - taken;
    const least = data.byteLength <= LIMITS.pipeAtomicBytes ? left : Math.min(left, 1);
    if (this.#ring.room < least) return false;
    write.taken += this.#ring.put(data.subarray(taken));
    if (write.taken === data.byteLength) {
      this.#writes.shift();
      settle();
    }
    return true;
  }

  #giveOut(): boolean {
    const read = this.#reads[0];
    if (read === undefined || (this.#ring.size === 0 && this.#writers.size > 0)) return false;
    this.#reads.shift();
    read.settle(this.#ring.get(read.length));
    return true;
  }
}

/** A ring buffer of at most `capacity` bytes; its memory is allocated at the first write. */
class ByteRing {
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
