/**
 * The permission port: may this happen? `permit/` implements it as pure functions of effects, rules, mode and grants.
 * An exception anywhere counts as ask, and as deny where nobody can be asked.
 */
import type { Effect } from "../../abi/effects.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { Rights } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";

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
  /** What it was given at its spawn, narrowed since; absent: nothing narrows it. */
  readonly rights?: Rights;
  /** Of what it has read. */
  readonly labels?: readonly Label[];
  /** In plan mode, entered from auto: the classifier answers what would ask. */
  readonly judgesPlan?: true;
  /** "Always" answers of this session, oldest first: rule texts. */
  readonly grants: readonly string[];
}

export interface PermitRequest {
  /** The name rules match: `bash`, `edit`; for bare devices `fs`, `shell`. */
  readonly tool: string;
  /** Paths absolute, `real` filled in. */
  readonly effects: readonly Effect[];
  /** The tool says that this call changes nothing but the caller's own lists. It lifts no deny and no ask. */
  readonly readOnly?: boolean;
}

/** One simple command of a shell text, or what else was judged on its own: a person sees each with its decision. */
export interface JudgedPart {
  /** As it will run, wrappers unfolded; what is not known is shown as `…`. Control characters escaped. */
  readonly text: string;
  readonly behavior: "allow" | "ask" | "deny";
  /** `rule bash(git *) of user settings`. */
  readonly why: string;
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
    | "ceiling"
    | "hook"
    | "classifier"
    | "label"
    | "trust"
    | "denials"
    | "sandbox";
  /** Words for a person: `rule bash(curl:*) of the shipped defaults`. */
  readonly detail: string;
};

export type Decision =
  | {
      readonly behavior: "allow";
      readonly reason: Reason;
      readonly parts?: readonly JudgedPart[];
      /** Set in the environment of the call's OS processes: git then starts nothing that a repository names. */
      readonly env?: Readonly<Record<string, string>>;
    }
  | {
      readonly behavior: "ask";
      readonly message: string;
      /** The rule that an "always" answer would add; null where none may be suggested. */
      readonly always: string | null;
      /** What a person can say once, where nobody can be asked each time: in words. */
      readonly choices?: string;
      /** No mode and no allow rule answers it, only a person. */
      readonly isHard?: boolean;
      /** Mode auto: a classifier may answer it in the person's place. Never with `isHard`. */
      readonly isJudgeable?: true;
      /** What was judged apart; absent: the call is one whole. */
      readonly parts?: readonly JudgedPart[];
      /** As of an allow, if a person allows it. */
      readonly env?: Readonly<Record<string, string>>;
      readonly reason: Reason;
    }
  /** `code`: what the call is refused with; absent: PERMISSION. INVALID: the call makes no sense, whoever asks. */
  | {
      readonly behavior: "deny";
      readonly message: string;
      readonly reason: Reason;
      readonly code?: "INVALID";
    };

/** Where what a call reads comes from, and what it touches: for labels. */
export interface Origins {
  readonly labels: readonly Label[];
  /** Real paths. */
  readonly reads: readonly { readonly path: string; readonly isSubtree: boolean }[];
  /** Real paths that its commands write, as far as they say; what tools write is seen where it is written. */
  readonly writes: readonly string[];
}

export interface Permit {
  decide(subject: Subject, request: PermitRequest): Decision;
  /** What must be loaded before such effects can be decided: resolves when it is there. null: all is. Never rejects. */
  ready?(effects: readonly Effect[]): Promise<void> | null;
  /** Flags of a command line, each of which would allow the call: the narrowest first. */
  remedies?(subject: Subject, request: PermitRequest): readonly string[];
  /** Within which the OS processes of a permitted call run; null: as the host is, which only settings of a person bring about. */
  sandbox?(subject: Subject, request: PermitRequest): SandboxProfile | null;
  /** What becomes of a command that cannot be confined: `on` asks a person, `required` refuses it. Absent: `on`. */
  readonly sandboxMode?: "on" | "off" | "required";
  /** Of a call that is permitted. Absent: nothing that it reads has labels. */
  origins?(subject: Subject, request: PermitRequest): Origins;
  /** Is every call of this tool denied? Then it is not offered. */
  hides?(subject: Subject, tool: string): boolean;
  /** Why a rule, as it was written, is none; null: it is one. What a person says at a start is told, not only logged. */
  notRule?(rule: RuleText): string | null;
  /** May anybody be in this mode at all, as the settings stand? Where not, what is in it works in `default`. */
  mayEnter?(mode: PermissionMode): boolean;
  /**
   * The deny and ask rules of the project's own files, their paths from the host root: a child that works elsewhere keeps them
   * in its rights.
   */
  restrictions?(): readonly RuleText[];
  /** The mode of a new top-level process when the client names none. */
  readonly defaultMode: PermissionMode;
}
