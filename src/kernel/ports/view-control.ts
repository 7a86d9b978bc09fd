/** What the model sees of a process, for the user. */
import type { ContextStat } from "../../abi/context.ts";
import type { Pid } from "../../abi/ids.ts";

export interface ViewControl {
  /** Of a process that runs, rests or has ended. NOT_FOUND: no such process. INVALID: it is no agent. */
  stat(pid: Pid): Promise<ContextStat>;
}
