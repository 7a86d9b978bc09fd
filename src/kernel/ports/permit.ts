/**
 * The permission port: may this happen? `permit/` implements it as pure functions of effects, rules, mode and grants.
 * An exception anywhere counts as ask, and as deny where nobody can be asked.
 */

import type { Effect } from "../../abi/effects.ts";
import type { Remedy } from "../../abi/fact.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { Rights } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { Said, Sentence } from "../../abi/sentence.ts";
import type { Confinement } from "../../abi/surroundings.ts";

/** The calling process, as it is at the moment of the call. */
export interface Subject {
  readonly pid: Pid;
  readonly mode: PermissionMode;
  readonly cwd: string;
  /** Directories the process works in, real paths; cwd first. */
  readonly roots: readonly string[];
  /** Directories of its own that it may read and write without asking: its scratch folder. Real paths. */
  readonly free?: readonly string[];
  /** The scratchpad that it shares with the agents of its session: as those, but without links. A real path. */
  readonly shared?: string;
  /** Directories in which its commands are looked up: PATH, absolute. A file put there can be run by name. */
  readonly programs?: readonly string[];
  /** Device paths it may open; null: no restriction. Checked as a ceiling before anything is asked. */
  readonly allowedDevices: readonly string[] | null;
  /** Its rights from the spawn, narrowed since; absent: no restriction. */
  readonly rights?: Rights;
  /** The labels of what it has read. */
  readonly labels?: readonly Label[];
  /** In plan mode entered from auto mode: the classifier answers instead of the user. */
  readonly judgesPlan?: true;
  /** "Always" answers of this session, oldest first: rule texts. */
  readonly grants: readonly string[];
}

export interface PermitRequest {
  /** The name rules match: `bash`, `edit`; for bare devices `fs`, `shell`. */
  readonly tool: string;
  /** Paths absolute, `real` filled in. */
  readonly effects: readonly Effect[];
  /** The tool declares that this call changes nothing but the caller's own lists. It lifts no deny and no ask. */
  readonly readOnly?: boolean;
}

/**
 * One simple command of a shell text, or another part that was judged on its own: screens show each with its decision.
 */
export interface JudgedPart {
  /** The command as it will run, without wrappers; unknown words are shown as `…`. Control characters are escaped. */
  readonly text: string;
  readonly behavior: "allow" | "ask" | "deny";
  /** `rule bash(git *) of user settings`. */
  readonly why: string;
  /** The same as a fact, where it is one. */
  readonly fact?: Sentence;
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
  /** The reason in words: `rule bash(curl:*) of the shipped defaults`. */
  readonly detail: string;
  /** The same as a fact, where it is one. */
  readonly fact?: Sentence;
};

export type Decision =
  | {
      readonly behavior: "allow";
      readonly reason: Reason;
      readonly parts?: readonly JudgedPart[];
      /** Set in the environment of the call's OS processes: git then starts no program that a repository names. */
      readonly env?: Readonly<Record<string, string>>;
    }
  | {
      readonly behavior: "ask";
      readonly message: string;
      /** The sentences of the message; absent: it is text alone. */
      readonly said?: readonly Said[];
      /** The rule that an "always" answer would add; null where none may be suggested. */
      readonly always: string | null;
      /** What the user can configure instead if nobody can be asked each time, in words. */
      readonly choices?: string;
      /** Only the user can allow it; no mode and no allow rule can. */
      readonly isHard?: boolean;
      /** In auto mode a classifier may answer instead of the user. Never with `isHard`. */
      readonly isJudgeable?: true;
      /** Parts that were judged separately; absent: the call was judged as a whole. */
      readonly parts?: readonly JudgedPart[];
      /** The same as for an allow, if the user allows it. */
      readonly env?: Readonly<Record<string, string>>;
      readonly reason: Reason;
    }
  /** `code` of the refusal; absent: PERMISSION. INVALID: the call is wrong regardless of rights. */
  | {
      readonly behavior: "deny";
      readonly message: string;
      readonly reason: Reason;
      readonly code?: "INVALID";
    };

/** The sources of what a call reads, and the files it touches: for labels. */
export interface Origins {
  readonly labels: readonly Label[];
  /** Real paths. */
  readonly reads: readonly { readonly path: string; readonly isSubtree: boolean }[];
  /**
   * Real paths that its commands write, as far as the command shows them; files written by tools are recorded at the
   * write.
   */
  readonly writes: readonly string[];
}

/** What a call removes for good. */
export interface Destroyed {
  /** Names, without the folders they are in. */
  readonly targets: readonly string[];
  /** There is more, known only when it runs. */
  readonly isOpen: boolean;
}

export interface Permit {
  decide(subject: Subject, request: PermitRequest): Decision;
  /** Resolves when everything needed to decide such effects is loaded. null: already loaded. Never rejects. */
  ready?(effects: readonly Effect[]): Promise<void> | null;
  /** Remedies that would each allow the call by itself, the narrowest first. */
  remedies?(subject: Subject, request: PermitRequest): readonly Remedy[];
  /** The sandbox for the OS processes of a permitted call; null: none, which only settings of the user can cause. */
  sandbox?(subject: Subject, request: PermitRequest): SandboxProfile | null;
  /** Where the commands of the process may write, and what they reach; null: they run without a sandbox. */
  confinement?(subject: Subject): Confinement | null;
  /** What happens to a command that cannot be sandboxed: `on` asks the user, `required` refuses it. Absent: `on`. */
  readonly sandboxMode?: "on" | "off" | "required";
  /** The sources of a permitted call. Absent: nothing that it reads has labels. */
  origins?(subject: Subject, request: PermitRequest): Origins;
  /** What such effects remove for good; null: nothing. Absent: not known. */
  destroys?(effects: readonly Effect[]): Destroyed | null;
  /** Is every call of this tool denied? If so, it is not offered. */
  hides?(subject: Subject, tool: string): boolean;
  /**
   * Why the text is not a valid rule; null: it is valid. For rules given at a start, whose errors are shown, not only
   * logged.
   */
  notRule?(rule: RuleText): string | null;
  /** Do the settings allow this mode at all? If not, processes in it work in `default`. */
  mayEnter?(mode: PermissionMode): boolean;
  /**
   * The deny and ask rules of the project's own files, with paths from the host root: a child that works in another
   * folder keeps them in its rights. `root`: the folder that stands in the place of the project's.
   */
  restrictions?(root?: string): readonly RuleText[];
  /** The mode of a new top-level process when the client names none. */
  readonly defaultMode: PermissionMode;
}
