/** A file to which one request is written and whose answer is read: what most devices are that do something. */
import {
  type Act,
  type Caller,
  type FileStat,
  O_RDWR,
  type OpenFile,
  type OpenFlag,
  type WritePlan,
} from "../abi/device.ts";
import { linkSignals } from "../lib/abort.ts";
import { Answer } from "./answer.ts";
import { cancelled, driverError, throwIfAborted } from "./driver-error.ts";

/** What is done with a request. Both throw INVALID for what cannot be one; `plan` changes nothing. */
export interface Exchange {
  readonly stat: FileStat;
  plan(data: Uint8Array): WritePlan;
  /** `signal`: of the call, the file or the process, whichever ends first. */
  answer(data: Uint8Array, act: Act, signal: AbortSignal): Promise<Uint8Array>;
}

/** INVALID unless it is opened for both ways. */
export function openExchange(exchange: Exchange, flags: OpenFlag, caller: Caller): OpenFile {
  if (flags === O_RDWR) return new ExchangeFile(exchange, caller);
  const { devicePath } = exchange.stat;
  throw driverError("Open", "INVALID", `open ${devicePath} for reading and writing (flags 2)`);
}

class ExchangeFile implements OpenFile {
  readonly #exchange: Exchange;
  readonly #caller: Caller;
  readonly #answer: Answer;
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(exchange: Exchange, caller: Caller) {
    this.#exchange = exchange;
    this.#caller = caller;
    this.#answer = new Answer(exchange.stat.name);
  }

  plan(data: Uint8Array): WritePlan {
    return this.#exchange.plan(data);
  }

  async write(data: Uint8Array, act: Act): Promise<void> {
    const { name } = this.#exchange.stat;
    if (this.#running !== undefined)
      throw driverError("Write", "CONFLICT", `${name}: a request is under way`);
    this.#answer.expectRequest();
    this.#running = this.#run(data, act);
    try {
      await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  /** Waits for the request under way. */
  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    await this.#running?.catch(() => {});
    throwIfAborted(signal, "Read");
    return this.#answer.take(length);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running?.catch(() => {});
    this.#answer.clear();
  }

  async stat(): Promise<FileStat> {
    return this.#exchange.stat;
  }

  async #run(data: Uint8Array, act: Act): Promise<void> {
    using linked = linkSignals(act.signal, this.#closed.signal, this.#caller.signal);
    throwIfAborted(linked.signal, "Write");
    try {
      this.#answer.set(await this.#exchange.answer(data, act, linked.signal));
    } catch (error) {
      if (linked.signal.aborted) throw cancelled("Write");
      throw error;
    }
  }
}
