/** The threads of one process, as the rest of the kernel sees them: threads.ts makes the set, process.ts holds it. */
import type { Tid } from "../../../abi/ids.ts";
import type { ThreadView } from "../../../abi/sys.ts";

export interface ThreadSet {
  /** The number of threads that have not ended. */
  readonly live: number;
  spawn(intent: string, maxTurns: number, signal: AbortSignal): Promise<Tid>;
  join(tid: Tid, signal: AbortSignal): Promise<{ result: string; err?: Error }>;
  cancel(tid: Tid): void;
  list(): ThreadView[];
  clear(): Promise<void>;
}
