/** Where what a person answers for good is kept: the settings files. The policy has what they say now. */
import type { PermissionUpdate } from "../../abi/permission-update.ts";

export interface SettingsWriter {
  /**
   * Writes it into the file of its destination, for a process that works in `cwd`; in force before this resolves.
   * INVALID: a destination that takes no such thing, a rule that is none. CONFLICT: the file changes all the time.
   * PERMISSION, UNAVAILABLE: it cannot be written.
   */
  apply(update: PermissionUpdate, cwd: string): Promise<AppliedUpdate>;
}

export interface AppliedUpdate {
  /** Absolute; null: `session`, which lies in the journal and is not written here. */
  readonly file: string | null;
  /** What a person should know: the file does not count in a workspace that is not trusted. */
  readonly note?: string;
}
