/** Processes by pid, within the rights of the caller. */
import type { Pid } from "../../abi/ids.ts";

export interface Lookup<Found> {
  /** NOT_FOUND: the caller does not see it. PERMISSION: the caller sees it but does not control it. */
  require(caller: Pid, pid: Pid, syscall: string, right: "see" | "control"): Found;
}
