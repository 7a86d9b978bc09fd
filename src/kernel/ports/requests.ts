/**
 * Client requests that had a key: what each has already made. The mark is stored in the record of what the request
 * made, so it is known even if the answer was lost. `history/recover/requests.ts` implements it.
 */
import type { ProcessEvent } from "../../abi/events.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Subscription } from "./subscription.ts";

/** What a request made: a process, or a message to one. */
export interface Requested {
  /** The mark of the request that made it. */
  readonly digest: string;
  readonly pid: Pid;
  /** When it was made, ms since the epoch. */
  readonly at: number;
  /** The number of the message; absent: the request made the process. */
  readonly message?: number;
}

export interface Requests {
  /** undefined: the request has made nothing yet, or did so more than a day ago. */
  find(id: string): Promise<Requested | undefined>;
  /**
   * Follows the process that a request has made, for the client that repeats it: a process that waits for its client
   * since a restart resumes, a resting session comes back. An ended one reports its end. CONFLICT: it is not running,
   * but can be resumed.
   */
  rejoin(pid: Pid, options: RejoinOptions): Promise<Subscription<ProcessEvent>>;
}

export interface RejoinOptions {
  readonly interactive?: boolean;
  /** The environment of the client, for a process that has lost its own. */
  readonly env?: Readonly<Record<string, string>>;
}
