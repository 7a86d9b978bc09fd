/** Processes by pid, as far as who asks may use them. */
import type { Pid } from "../../abi/ids.ts";

export interface Lookup<Found> {
  /** NOT_FOUND: the caller does not see it. PERMISSION: it sees it, and does not control it. */
  require(caller: Pid, pid: Pid, syscall: string, right: "see" | "control"): Found;
}
