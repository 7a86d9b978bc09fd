/**
 * The rights of a process in addition to the settings: computed at its spawn from its parent's rights and its
 * definition, journalled with it, and from then on only narrowed. Only a grant of the user can widen them.
 */
import type { PermissionMode } from "./process.ts";
import type { RuleText } from "./rules.ts";

/** A directory that is closed to a process, but for a worktree in it. Real paths. */
export interface Wall {
  readonly dir: string;
  /** Below `dir`: open as if there were no wall. */
  readonly open: string;
  /** The git directory of the repository: it may be read. */
  readonly gitDir: string;
}

/** The notes of an agent itself, in a folder of their own below the memory of the project or of the user. */
export interface OwnNotes {
  readonly scope: "local" | "user";
  /** The name of the folder. */
  readonly folder: string;
  /** What it may use on these notes alone, in addition to `tools`; by canonical name. */
  readonly tools: readonly string[];
}

export interface Rights {
  /** The highest mode the process may be in. */
  readonly mode: PermissionMode;
  /** Device paths it may open, including all paths below them; null: no restriction. */
  readonly devices: readonly string[] | null;
  /** Tools it may call, by canonical name; null: no restriction. */
  readonly tools: readonly string[] | null;
  /** Hosts it may reach, written as in `fetch(domain:…)` without `domain:`; null: no restriction except the rules. */
  readonly hosts: readonly string[] | null;
  /** Real paths it may work in; null: no restriction. */
  readonly roots: readonly string[] | null;
  /** Deny rules of its ancestors and its own definition, combined. */
  readonly deny: readonly RuleText[];
  readonly ask: readonly RuleText[];
  /**
   * Allow rules in addition to the settings, from the command line or a running skill. null: no cap on what it is
   * given.
   */
  readonly allow: readonly RuleText[] | null;
  /** Checkouts that are closed to it, whatever rules and mode say. Absent: none. */
  readonly walls?: readonly Wall[];
  /** The memory of agents is closed to it, whatever rules and mode say. Absent: it is as the settings say. */
  readonly noMemory?: true;
  /** Not passed on to the processes that it starts. Absent: none. */
  readonly notes?: OwnNotes;
}

/**
 * Rights requested at a spawn in addition to the definition. Rules as in settings; only the user's `allow` may exceed
 * the parent's rights.
 */
export interface RightsWish {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  readonly tools?: readonly string[];
  readonly hosts?: readonly string[];
  /** Real paths, within which it works; its scratch folder is not affected. */
  readonly roots?: readonly string[];
  /** Settings rules that the user passed at the start. From an agent they can only narrow. */
  readonly settings?: RuleLists;
}

export interface RuleLists {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/** The full rights, not narrowed at all. */
export const ALL_RIGHTS: Rights = {
  mode: "bypass",
  devices: null,
  tools: null,
  hosts: null,
  roots: null,
  deny: [],
  ask: [],
  allow: null,
};

/** The minimal rights, for a process whose rights cannot be read. */
export const NO_RIGHTS: Rights = {
  mode: "plan",
  devices: [],
  tools: [],
  hosts: [],
  roots: [],
  deny: [],
  ask: [],
  allow: [],
};
