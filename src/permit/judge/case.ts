/** One call under judgement: its subject, tool, rules and places. Built anew for each decision. */
import { posix } from "node:path";
import type { OwnNotes } from "../../abi/rights.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import type { Subject } from "../../kernel/ports/permit.ts";
import type { PathBases } from "../rules/path-pattern.ts";
import { normalPath } from "../rules/paths.ts";
import type { Protection } from "../rules/protected.ts";
import type { Rule } from "../rules/rule.ts";
import type { RuleSet } from "../rules/rule-set.ts";
import type { LabelPolicy } from "./label.ts";

export interface Case {
  /** The asking process with its effective mode: within its rights, and not closed by the settings. */
  readonly subject: Subject;
  readonly tool: string;
  /** The tool declares that this call changes nothing. */
  readonly isReadOnly: boolean;
  readonly rules: RuleSet;
  /** Allow rules and grants. */
  readonly allow: readonly Rule[];
  /** The rule that allows every call of the tool, if there is one. */
  readonly callRule: Rule | undefined;
  readonly places: Places;
  /** Where the patterns of allow rules begin; `generousBases`, for deny and ask rules, adds every root. */
  readonly bases: PathBases;
  readonly generousBases: PathBases;
  /** Directories in which reading is allowed; writing depends on the mode. */
  readonly roots: readonly string[];
  /** Directories of this process or its session alone, in which reading and writing are allowed. */
  readonly free: readonly string[];
  /** The one of them that others share; it has no links. */
  readonly shared: string | null;
  readonly labelPolicy: LabelPolicy;
  /** Problems of settings files that may have lost a deny, one line each. */
  readonly unreadable: readonly string[];
}

/** Directories of the installation, each as written and with symlinks resolved. */
export interface Places {
  readonly home: string;
  readonly kernel: readonly string[];
  readonly protections: readonly Protection[];
  /** Where agents keep their memory across sessions. */
  readonly memory: readonly string[];
  /** The parts of it that processes of this project have. */
  readonly ownMemory: readonly string[];
  /** Below which agents keep notes of their own. */
  readonly noteFolders: Readonly<Record<OwnNotes["scope"], readonly string[]>>;
  /** Where the user's own and the shipped skills are. */
  readonly skills: readonly string[];
  readonly realPath: RealPath;
  readonly exists: (path: string) => boolean;
  /** Whether the file has another name (hard link) in a protected or kernel place. */
  readonly otherNames: (path: string, roots: readonly string[]) => OtherNames;
  /** Whether the file has another name that is a lock, a key or the journal of Crux. */
  readonly isKernelFile: (path: string) => boolean;
  /** Whether the configuration of its repository has git run the file; `isWhole`: with all that lies in it. */
  readonly isGitProgram: (path: string, isWhole: boolean) => boolean;
  /** The volume ignores case and invisible characters in names. */
  readonly foldsNames: boolean;
}

/** A write through one name of a file changes it under all its names (hard links). */
export type OtherNames = "none" | "kernel" | "protected";

/** A path as written and as resolved. Deny and ask rules match either form, allow rules must match both. */
export function formsOf(path: string, real: string): readonly string[] {
  const written = normalPath(path);
  const resolved = normalPath(real);
  return written === resolved ? [written] : [written, resolved];
}

/** The folders that its process reads and writes freely. */
export const freeOf = ({ free = [], shared }: Pick<Subject, "free" | "shared">): readonly string[] =>
  shared === undefined ? free : [...free, shared];

/** The folders of notes of all agents, below those given. */
export const agentNotes = (dirs: readonly string[]): readonly string[] =>
  dirs.map((dir) => posix.join(dir, "agents"));

/** The folder of the notes that are the agent's own, in all its forms; none if it keeps none, or memory is off. */
export function ownNotes({ places, subject }: Pick<Case, "places" | "subject">): readonly string[] {
  const { notes, noMemory } = subject.rights ?? {};
  if (notes === undefined || noMemory === true) return [];
  return agentNotes(places.noteFolders[notes.scope]).map((dir) => posix.join(dir, notes.folder));
}
