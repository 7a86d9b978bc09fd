/** Process groups as the wires see them. */
import type { Pgid, Pid } from "../../abi/ids.ts";

export interface GroupView {
  readonly id: Pgid;
  /** "" for one without a name. */
  readonly name: string;
  /** Members by rising pid. */
  readonly pids: readonly Pid[];
}
