import type { MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { WireStreamLine } from "../../abi/wire.ts";

/** One connection to the daemon. Requests on it are answered in order; a stream takes it over until its end. */
export interface DaemonClient {
  /** Rejects with WireFault for what the daemon refused. */
  request<M extends MethodName>(method: M, payload: Params<M>, signal?: AbortSignal): Promise<Result<M>>;
  stream<M extends MethodName>(
    method: M,
    payload: Params<M>,
    signal?: AbortSignal,
  ): Promise<DaemonStream<Result<M>>>;
  close(): void;
}

export interface DaemonStream<R> {
  readonly response: R;
  /** Ends when the connection does, whoever closed it. */
  readonly lines: AsyncIterable<WireStreamLine>;
  close(): void;
}

/** How a command reaches the daemon of this user. */
export interface DaemonAccess {
  /** Starts one where none runs. */
  ensure(signal?: AbortSignal): Promise<DaemonClient>;
  /** undefined: none runs, and none is started. */
  find(signal?: AbortSignal): Promise<DaemonClient | undefined>;
  /** `crux fsck` where no daemon runs: the lines of journal.check, from a process of its own. Leaving the loop ends it. */
  offline(words: readonly string[], signal?: AbortSignal): AsyncIterable<WireStreamLine>;
  /** Resolves once the daemon that was told to stop has removed its socket. */
  gone(signal: AbortSignal): Promise<void>;
  /** Ends one that does not answer, by the pid that holds the lock; false: none runs. */
  force(signal: AbortSignal): Promise<boolean>;
  /** While none runs: the next one leaves safe mode. */
  forgetDeaths(): Promise<void>;
}
