/** A supervisor as the wires see it. */
import type { SupervisorView } from "../../abi/supervise.ts";

/** What a client can do to a running supervisor. */
export interface SupervisorControl {
  view(): SupervisorView;
  /** NOT_FOUND: no such child; CONFLICT: it runs. With the error of a start that fails it is stopped. */
  startChild(id: string): Promise<void>;
  /** Stops a child for good. CONFLICT: it does not run. */
  stopChild(id: string): Promise<void>;
  /** CONFLICT: it does not run. A start that fails counts as an exit. */
  restartChild(id: string): Promise<void>;
}
