/** A file that takes one written request and returns its answer: the form of most devices that perform actions. */
import {
  type Act,
  type Caller,
  type FileStat,
  O_RDWR,
  type OpenFile,
  type OpenFlag,
  type WritePlan,
} from "../abi/device.ts";
import { ABORTED, linkSignals } from "../lib/abort.ts";
import { Answer } from "./answer.ts";
import { cancelled, driverError, throwIfAborted } from "./driver-error.ts";

/** How requests are handled. Both methods throw INVALID for an invalid request; `plan` changes nothing. */
export interface Exchange {
  readonly stat: FileStat;
  plan(data: Uint8Array): WritePlan;
  /** `signal` fires when the call, the file or the process ends. */
  answer(data: Uint8Array, act: Act, signal: AbortSignal): Promise<Uint8Array>;
}

/** INVALID: not opened for reading and writing. */
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

  /** Waits for the request in progress. */
  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    await this.#running?.catch(() => {});
    throwIfAborted(signal, "Read");
    return this.#answer.take(length);
  }

  async close(): Promise<void> {
    this.#closed.abort(ABORTED);
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
