/**
 * A connection that gives each request with effects an idempotency key. A request cut off before its answer is sent
 * again once a daemon is reachable: with the same key it takes effect only once.
 */
import type { KeyedMethod, MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { Connection, WireStream } from "./connection.ts";
import { CutOff } from "./cut-off.ts";

/** The same methods as in the registry, whose schemas a client does not load. */
const KEYED: Readonly<Record<KeyedMethod, true>> = {
  spawn: true,
  "mail.send": true,
  "session.say": true,
  "process.fork": true,
  "compose.up": true,
};
/** The number of attempts in total. */
const TRIES = 3;

export class RepeatingConnection {
  #connection: Connection;
  readonly #connect: (signal?: AbortSignal) => Promise<Connection>;

  /** `connect`: connects to the daemon, which is started if none runs. */
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
    // loaded here: most commands, such as ps, need no key, and loading it takes them some milliseconds
    const { randomUUID } = process.getBuiltinModule("node:crypto");
    const keyed = { ...payload, idempotency_key: randomUUID() };
    for (let tries = 1; ; tries++) {
      const asked = this.#connection;
      try {
        return await ask(keyed);
      } catch (error) {
        if (!(error instanceof CutOff) || tries === TRIES) throw error;
        // another request on it may have reconnected already
        if (asked === this.#connection) await this.#reconnect(error, signal);
      }
    }
  }

  /** Rejects with `cut`, the original error of the request, if no daemon can be reached. */
  async #reconnect(cut: CutOff, signal: AbortSignal | undefined): Promise<void> {
    try {
      this.#connection = await this.#connect(signal);
    } catch (error) {
      throw signal?.aborted === true ? error : cut;
    }
  }
}
