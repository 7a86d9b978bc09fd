/** One call under judgement: who, by which tool, under which rules and places. Built anew for each decision. */
import type { RealPath } from "../../kernel/ports/host.ts";
import type { Subject } from "../../kernel/ports/permit.ts";
import type { PathBases } from "../rules/path-pattern.ts";
import { normalPath } from "../rules/paths.ts";
import type { Protection } from "../rules/protected.ts";
import type { Rule } from "../rules/rule.ts";
import type { RuleSet } from "../rules/rule-set.ts";
import type { LabelPolicy } from "./label.ts";

export interface Case {
  /** Its mode is the one that holds: never above its rights, none that the settings close. */
  readonly subject: Subject;
  readonly tool: string;
  /** The tool says of this call that it changes nothing. */
  readonly isReadOnly: boolean;
  readonly rules: RuleSet;
  /** Allow rules and grants together. */
  readonly allow: readonly Rule[];
  /** The rule that allows every call of the tool, if there is one. */
  readonly callRule: Rule | undefined;
  readonly places: Places;
  /** Where the patterns of allow rules begin; those of deny and ask rules begin at every root as well. */
  readonly bases: PathBases;
  readonly generousBases: PathBases;
  /** Reading is free here; writing follows the mode. */
  readonly roots: readonly string[];
  /** Closed to every other process: reading and writing are free here. */
  readonly free: readonly string[];
  readonly labelPolicy: LabelPolicy;
  /** Problems of settings files that may have cost a deny, one line each. */
  readonly unreadable: readonly string[];
}

/** Directories of the installation, each as written and with its symlinks resolved. */
export interface Places {
  readonly home: string;
  readonly kernel: readonly string[];
  readonly protections: readonly Protection[];
  /** Where agents keep what they remember from session to session. */
  readonly memory: readonly string[];
  readonly realPath: RealPath;
  readonly exists: (path: string) => boolean;
  /** Names of one file under which something protected is found; null: the file has no other name. */
  readonly otherNames: (path: string, roots: readonly string[]) => OtherNames;
  /** Names that differ in case or in invisible characters are the same there. */
  readonly foldsNames: boolean;
}

/** A file that is written through one name changes under all. */
export type OtherNames = "none" | "kernel" | "protected";

/** A path as written and as resolved. Deny and ask rules look at either, allow rules need both. */
export function formsOf(path: string, real: string): readonly string[] {
  const written = normalPath(path);
  const resolved = normalPath(real);
  return written === resolved ? [written] : [written, resolved];
}
