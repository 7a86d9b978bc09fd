/** A supervisor as the wires see it. */
import type { SupervisorView } from "../../abi/supervise.ts";

/** What a client can do to a running supervisor. */
export interface SupervisorControl {
  view(): SupervisorView;
  /**
   * NOT_FOUND: no such child; CONFLICT: it is running. If the start fails, the child is stopped and the error is
   * thrown.
   */
  startChild(id: string): Promise<void>;
  /** Stops a child for good. CONFLICT: it is not running. */
  stopChild(id: string): Promise<void>;
  /** CONFLICT: it is not running. A start that fails counts as an exit. */
  restartChild(id: string): Promise<void>;
}
