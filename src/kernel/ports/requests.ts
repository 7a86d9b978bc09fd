/**
 * Requests of clients that had a key: what one has made already. It stands in the record of that itself, so what is on disk is
 * known, whatever became of the answer. `history/recover/requests.ts` implements it.
 */
import type { ProcessEvent } from "../../abi/events.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Subscription } from "./subscription.ts";

/** What a request made: a process, or a message to one. */
export interface Requested {
  /** The mark of the request that made it. */
  readonly digest: string;
  readonly pid: Pid;
  /** The number of the message; absent: the request made the process. */
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
  /** The environment of the client, for a process that has lost its own. */
  readonly env?: Readonly<Record<string, string>>;
}
