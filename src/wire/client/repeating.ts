/**
 * A connection whose acting requests have a key each. One that is cut off before its answer is sent again, once a daemon is there:
 * by the key it is the same request, and happens once.
 */
import { randomUUID } from "node:crypto";
import type { KeyedMethod, MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { Connection, WireStream } from "./connection.ts";
import { CutOff } from "./cut-off.ts";

/** As in the registry, whose schemas a client does not load. */
const KEYED: Readonly<Record<KeyedMethod, true>> = {
  spawn: true,
  "mail.send": true,
  "session.say": true,
  "process.fork": true,
  "compose.up": true,
};
/** In all. */
const TRIES = 3;

export class RepeatingConnection {
  #connection: Connection;
  readonly #connect: (signal?: AbortSignal) => Promise<Connection>;

  /** `connect`: to the daemon, which is started where none runs. */
  constructor(connection: Connection, connect: (signal?: AbortSignal) => Promise<Connection>) {
    this.#connection = connection;
    this.#connect = connect;
  }

  request<M extends MethodName>(method: M, payload: Params<M>, signal?: AbortSignal): Promise<Result<M>> {
    return this.#once(method, payload, signal, (keyed) => this.#connection.request(method, keyed, signal));
  }

  stream<M extends MethodName>(
    method: M,
    payload: Params<M>,
    signal?: AbortSignal,
  ): Promise<WireStream<Result<M>>> {
    return this.#once(method, payload, signal, (keyed) => this.#connection.stream(method, keyed, signal));
  }

  close(): void {
    this.#connection.close();
  }

  async #once<M extends MethodName, T>(
    method: M,
    payload: Params<M>,
    signal: AbortSignal | undefined,
    ask: (payload: Params<M>) => Promise<T>,
  ): Promise<T> {
    if (!Object.hasOwn(KEYED, method)) return ask(payload);
    const keyed = { ...payload, idempotency_key: randomUUID() };
    for (let tries = 1; ; tries++) {
      const asked = this.#connection;
      try {
        return await ask(keyed);
      } catch (error) {
        if (!(error instanceof CutOff) || tries === TRIES) throw error;
        // another request on it may have found the next one already
        if (asked === this.#connection) await this.#reconnect(error, signal);
      }
    }
  }

  /** Rejects with what is true of the request where no daemon is to be had: it was cut off. */
  async #reconnect(cut: CutOff, signal: AbortSignal | undefined): Promise<void> {
    try {
      this.#connection = await this.#connect(signal);
    } catch (error) {
      throw signal?.aborted === true ? error : cut;
    }
  }
}
