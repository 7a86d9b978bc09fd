/** How the user changes the rights of processes. */

import type { Grant, GrantBy, GrantView } from "../../abi/grants.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { AutoModeLists } from "../../abi/permit/auto-mode.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { ClassifierStage } from "./classifier.ts";

export interface ModeView {
  readonly mode: PermissionMode;
  /** The highest mode that it may enter by itself. */
  readonly ceiling: PermissionMode;
}

export interface RulesWish {
  readonly rules: readonly Pick<Grant, "behavior" | "rule">[];
  readonly scope: "process" | "subtree" | "session";
  readonly by: GrantBy;
  readonly isLent: boolean;
}

export interface RightsControl {
  /**
   * The mode of a process, set first if one is given; a resting session is brought back to set it. Above its ceiling,
   * the user's change adds a grant. NOT_FOUND; PERMISSION: settings disable it; INVALID: `bypass` other than at the
   * start.
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
   * Rules in addition to those of its start, in effect and durable when it resolves; a resting session is brought back. `isLent`: at
   * the latest the next daemon does not know them. Their ids. NOT_FOUND; INVALID: not a rule; UNAVAILABLE: too many grants.
   */
  grant(pid: Pid, wish: RulesWish): Promise<readonly string[]>;
  /**
   * Takes effect at the next passage of the gate; with `isKilling`, running calls that only it allowed end. `pid`: a
   * process of its session, needed if the session rests. NOT_FOUND.
   */
  removeGrant(
    id: string,
    by: GrantBy,
    options?: { readonly pid?: Pid; readonly isKilling?: boolean },
  ): Promise<void>;
  /** The sources of what a process has read. NOT_FOUND. */
  labels(pid: Pid): Promise<readonly Label[]>;
  /**
   * Removes the labels of a source or of one place, or `all`; returns the rest. NOT_FOUND: no such process or label.
   */
  clearLabels(pid: Pid, which: string, by: GrantBy): Promise<readonly Label[]>;
  /** Settings were reloaded: processes in a mode that is now disabled change to `default`. */
  recheckModes(): Promise<void>;
}
