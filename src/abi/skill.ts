/** Skills: instructions for one kind of work, as they are listed for a model and loaded for a call. */

/** Where a skill comes from. `other`: a project's files in the formats of other programs. */
export type SkillSource = "other" | "bundled" | "user" | "project" | "policy";

/** One line of the list that a model is given. */
export interface SkillLine {
  readonly name: string;
  readonly description: string;
  readonly source: SkillSource;
  /** Patterns as in .gitignore, from the working directory: it is listed once a call touches such a file. */
  readonly paths?: readonly string[];
}

/** The process that follows a skill. */
export interface SkillFork {
  /** The agent file of it; "": the default one. */
  readonly agent: string;
  /** "": that of the agent file. */
  readonly model: string;
}

/** A skill in full, for the call that uses it. */
export interface SkillText {
  readonly name: string;
  readonly source: SkillSource;
  /** Its folder: absolute, links resolved. */
  readonly dir: string;
  /** The text below the settings. */
  readonly body: string;
  /** The names of its arguments, for `$name` in the text. */
  readonly argumentNames: readonly string[];
  /** The rules that it asks to be allowed while it is in use. */
  readonly rules: readonly string[];
  /** Whether commands in its text may be run. */
  readonly runsCommands: boolean;
  readonly forModel: boolean;
  readonly forUser: boolean;
  /** `context: fork`: a process of its own follows it; its last message is the result. null: it is followed here. */
  readonly fork: SkillFork | null;
  /** It only instructs: none of its settings can have an effect of its own. */
  readonly isPlain: boolean;
}

/** The skills in reach of one process. */
export interface SkillShelf {
  /** undefined: no such skill. */
  find(name: string): SkillText | undefined;
  names(): readonly string[];
  /** Counts a use, for the order of the list. */
  used(name: string): void;
}

/** The same as a tool sees it. */
export interface SkillsInReach extends SkillShelf {
  /** The process, as `${CRUX_SESSION_ID}` in the texts of skills. */
  readonly session: string;
  /** The user has typed `/name` in the message that the process works on. */
  isTyped(name: string): boolean;
  /** The skills in use in this run. */
  inUse(): readonly string[];
}

/** What the policy has to know of a skill, with the effect of starting it. */
export interface SkillEffect {
  readonly isPlain: boolean;
  readonly isTyped: boolean;
  /** Shipped, or of the user or the administrator: nothing that a workspace brings. */
  readonly isOwn: boolean;
  readonly rules: readonly string[];
}

/** Skills in use in one run. */
export const MAX_SKILLS_IN_USE = 5;

/** A command in the text of a skill: !`git status`. */
export const INLINE_COMMAND = /!`([^`\n]+)`/g;

export function hasInlineCommands(body: string): boolean {
  return body.search(INLINE_COMMAND) >= 0;
}

export function isOwnSkill(source: SkillSource): boolean {
  return source === "bundled" || source === "user" || source === "policy";
}
