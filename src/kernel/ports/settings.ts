/**
 * Reading the settings files, and writing the answers of the user that are to be permanent. The policy has their
 * current content.
 */
import type { PermissionUpdate } from "../../abi/permit/permission-update.ts";
import type { RuleDestination } from "../../abi/rules.ts";

export interface SettingsWriter {
  /**
   * Writes it into the file of its destination, for a process that works in `cwd`; in force before this resolves.
   * INVALID: the destination does not accept it, or the rule is malformed. CONFLICT: the file keeps changing.
   * PERMISSION, UNAVAILABLE: it cannot be written.
   */
  apply(update: PermissionUpdate, cwd: string): Promise<AppliedUpdate>;
}

export interface AppliedUpdate {
  /** Absolute; null: the destination `session`, which lies in the journal and is not written here. */
  readonly file: string | null;
  /** A warning for the user: in a workspace that is not trusted, the file has no effect. */
  readonly note?: string;
}

/** The value of one key in one file. */
export interface SettingView {
  readonly key: string;
  readonly value: unknown;
  readonly source: "default" | "user" | "project" | "local" | "policy";
  readonly file?: string;
  /** Why the value has no effect. */
  readonly ignored?: string;
}

/** `value` undefined: removes the key from the file. */
export interface NewSetting {
  readonly key: string;
  readonly value: unknown;
}

export interface SettingsDesk {
  /** The values of each key; a later one overrides an earlier one. NOT_FOUND: no such key. */
  list(cwd: string, key?: string): { settings: readonly SettingView[]; problems: readonly string[] };
  /**
   * Writes one value; in force before this resolves. INVALID: no such key, a value that the key does not
   * accept, or a file that it may not stand in. CONFLICT, PERMISSION, UNAVAILABLE as for SettingsWriter.
   */
  set(
    cwd: string,
    destination: RuleDestination,
    setting: NewSetting,
  ): Promise<{ file: string; changed: boolean; note?: string }>;
}
