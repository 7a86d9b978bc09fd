/** One call under judgement: who, by which tool, under which rules and places. Built anew for each decision. */
import type { RealPath } from "../kernel/ports/host.ts";
import type { Subject } from "../kernel/ports/permit.ts";
import type { PathBases } from "./path-pattern.ts";
import { normalPath } from "./paths.ts";
import type { Protection } from "./protected.ts";
import type { Rule } from "./rule.ts";
import type { RuleSet } from "./rule-set.ts";

export interface Case {
  readonly subject: Subject;
  readonly tool: string;
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
}

/** Directories of the installation, each as written and with its symlinks resolved. */
export interface Places {
  readonly home: string;
  readonly kernel: readonly string[];
  readonly protections: readonly Protection[];
  readonly realPath: RealPath;
  readonly exists: (path: string) => boolean;
}

/** A path as written and as resolved. Deny and ask rules look at either, allow rules need both. */
export function formsOf(path: string, real: string): readonly string[] {
  const written = normalPath(path);
  const resolved = normalPath(real);
  return written === resolved ? [written] : [written, resolved];
}
