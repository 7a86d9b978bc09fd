/**
 * The permission port: may this happen? `permit/` implements it as pure functions of effects, rules, mode and grants.
 * An exception anywhere counts as ask, and as deny where nobody can be asked.
 */
import type { Effect } from "../../abi/effects.ts";
import type { Pid } from "../../abi/ids.ts";
import type { PermissionMode } from "../../abi/process.ts";

/** Who wants it, as it stands at the moment of the call. */
export interface Subject {
  readonly pid: Pid;
  readonly mode: PermissionMode;
  readonly cwd: string;
  /** Directories the process works in, real paths; cwd first. */
  readonly roots: readonly string[];
  /** Directories of its own that it may read and write without asking: its scratch folder. Real paths. */
  readonly free?: readonly string[];
  /** Directories where its commands are looked for: PATH, absolute. What is put there is run by name. */
  readonly programs?: readonly string[];
  /** Device paths it may open; null: no restriction. Checked as a ceiling before anything is asked. */
  readonly allowedDevices: readonly string[] | null;
  /** "Always" answers of this session, oldest first: rule texts. */
  readonly grants: readonly string[];
}

export interface PermitRequest {
  /** The name rules match: `bash`, `edit`; for bare devices `fs`, `shell`. */
  readonly tool: string;
  /** Paths absolute, `real` filled in. */
  readonly effects: readonly Effect[];
}

export type Reason = {
  readonly kind:
    | "rule"
    | "mode"
    | "protected"
    | "parse"
    | "inherited"
    | "headless"
    | "default"
    | "error"
    | "ceiling";
  /** Words for a person: `rule bash(curl:*) of the shipped defaults`. */
  readonly detail: string;
};

export type Decision =
  | { readonly behavior: "allow"; readonly reason: Reason }
  | {
      readonly behavior: "ask";
      readonly message: string;
      /** The rule that an "always" answer would add; null where none may be suggested. */
      readonly always: string | null;
      /** No mode and no allow rule answers it, only a person. */
      readonly isHard?: boolean;
      readonly reason: Reason;
    }
  | { readonly behavior: "deny"; readonly message: string; readonly reason: Reason };

export interface Permit {
  decide(subject: Subject, request: PermitRequest): Decision;
  /** The mode of a new top-level process when the client names none. */
  readonly defaultMode: PermissionMode;
}
