/**
 * Requests of clients that had a key: what one has made already. It stands in the record of that itself, so what is on disk is
 * known, whatever became of the answer. `history/recover/requests.ts` implements it.
 */
import type { ProcessEvent } from "../../abi/events.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Subscription } from "./subscription.ts";

/** What a request has made: a process, or a message for one. */
export interface Requested {
  /** Of the request that made it. */
  readonly digest: string;
  readonly pid: Pid;
  /** Of a message; absent: it is the process. */
  readonly message?: number;
}

export interface Requests {
  /** undefined: nothing yet, or it was more than a day ago. */
  find(id: string): Promise<Requested | undefined>;
  /**
   * Follows a process that a request has made, for the client that asks again: what waits since a restart for who asked for it
   * goes on, a session that rests comes back. One that has ended tells its end. CONFLICT: it is not running, and may go on.
   */
  rejoin(pid: Pid, options: RejoinOptions): Promise<Subscription<ProcessEvent>>;
}

export interface RejoinOptions {
  readonly interactive?: boolean;
  /** Of the client, for one that has lost its. */
  readonly env?: Readonly<Record<string, string>>;
}
