/** The threads of one process: further loops over its context, fds, rights and account. Made on first use. */
import type { Tid } from "../../abi/ids.ts";
import type { ThreadView } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import type { Process } from "./process.ts";

export class Threads {
  /** Of those that have not ended. */
  get live(): number {
    return 0;
  }
  spawn(_core: Core, _proc: Process, _intent: string, _maxTurns: number): Promise<Tid> {
    throw new Error("to be written");
  }
  join(_tid: Tid, _signal: AbortSignal): Promise<{ result: string; err?: Error }> {
    throw new Error("to be written");
  }
  cancel(_tid: Tid): Promise<void> {
    throw new Error("to be written");
  }
  list(): ThreadView[] {
    return [];
  }
  /** Cancels all and waits for their ends, at most 5 s. */
  async clear(_core: Core): Promise<void> {}
}
