/** How the user changes the rights of processes. */
import type { AutoModeLists } from "../../abi/auto-mode.ts";
import type { GrantBy, GrantView } from "../../abi/grants.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { ClassifierStage } from "./classifier.ts";

export interface ModeView {
  readonly mode: PermissionMode;
  /** The highest that it may ask for. */
  readonly ceiling: PermissionMode;
}

export interface RightsControl {
  /**
   * The mode of a process, set first if one is given; a session that rests comes back for that. Above its ceiling the person
   * gives it with a grant. NOT_FOUND; PERMISSION: settings close it; INVALID: `bypass` later than at the start.
   */
  mode(pid: Pid, change?: { readonly mode: PermissionMode; readonly by: GrantBy }): Promise<ModeView>;
  /** The instructions of the auto mode classifier according to the current settings. */
  autoMode(): {
    readonly lists: AutoModeLists;
    readonly stage: "both" | ClassifierStage;
    readonly duringPlan: boolean;
  };
  /** The grants that apply to a process; absent: all in memory. NOT_FOUND: no such process. */
  grants(pid?: Pid): Promise<readonly GrantView[]>;
  /**
   * It binds from the next passage of the gate on; with `isKilling` what only it allowed ends. `pid`: a process of its session,
   * where that rests. NOT_FOUND.
   */
  removeGrant(
    id: string,
    by: GrantBy,
    options?: { readonly pid?: Pid; readonly isKilling?: boolean },
  ): Promise<void>;
  /** The sources of what a process has read. NOT_FOUND. */
  labels(pid: Pid): Promise<readonly Label[]>;
  /** Labels of a source or of one place, or `all`, count no more: what is left. NOT_FOUND: no such process or label. */
  clearLabels(pid: Pid, which: string, by: GrantBy): Promise<readonly Label[]>;
  /** Settings were reloaded: processes in a mode that is now disabled change to `default`. */
  recheckModes(): Promise<void>;
}
