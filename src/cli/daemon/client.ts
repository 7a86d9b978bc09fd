import type { Feature } from "../../abi/ipc.ts";
import type { MethodName, Params, Result } from "../../abi/methods/methods.ts";
import type { WireStreamLine } from "../../abi/wire.ts";
import type { KernelClient } from "../../wire/client/kernel.ts";

/** One connection to the daemon. Requests on it are answered in order; a stream occupies it until its end. */
export interface DaemonClient {
  /** Rejects with a WireFault if the daemon refuses the request. */
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
  /** Ends with the connection, whichever side closed it. */
  readonly lines: AsyncIterable<WireStreamLine>;
  close(): void;
}

/** How a command reaches the daemon of this user. */
export interface DaemonAccess {
  /** Starts a daemon if none runs. */
  ensure(signal?: AbortSignal): Promise<DaemonClient>;
  /** The same over the binary wire. `features`: besides those that its client needs. */
  kernel(features?: readonly Feature[]): Promise<KernelClient>;
  /** undefined: no daemon runs; none is started. */
  find(signal?: AbortSignal): Promise<DaemonClient | undefined>;
  /** `crux fsck` without a daemon: the lines of journal.check, from a child process. Leaving the loop ends it. */
  offline(words: readonly string[], signal?: AbortSignal): AsyncIterable<WireStreamLine>;
  /** Resolves once the stopping daemon has removed its socket. */
  gone(signal: AbortSignal): Promise<void>;
  /** Ends by force a daemon that does not answer, by the pid that holds the lock; false: none runs. */
  force(signal: AbortSignal): Promise<boolean>;
  /** Called while no daemon runs: the next one leaves safe mode. */
  forgetDeaths(): Promise<void>;
}
