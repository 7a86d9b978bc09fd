/** What guides agents besides their agent file: the state of their workspace, instruction files, skills. */
import type { AgentSeeker } from "../../abi/agent.ts";
import type { Pid } from "../../abi/ids.ts";
import type { OwnNotes } from "../../abi/rights.ts";
import type { SkillShelf } from "../../abi/skill.ts";
import type { Nearby, Surroundings } from "../../abi/surroundings.ts";

/** The process that is guided. */
export interface Guided extends AgentSeeker {
  readonly pid: Pid;
  /** False: general mode. Then it is given no files. */
  readonly hasAgent: boolean;
  /** Memory is off for it. */
  readonly noMemory?: true;
  /** The notes of its own that it may keep. Absent: none. */
  readonly notes?: OwnNotes;
  /** The rule that denies the process to read this file; undefined: none does. Absent: no rule is asked. */
  readonly denied?: (path: string) => string | undefined;
}

/** What guides it, without what the kernel knows itself. */
export type Guidance = Omit<Surroundings, "confinement" | "scratch" | "scratchpad">;

export interface Guides {
  /** Does not fail: what cannot be read is left out. */
  around(guided: Guided): Promise<Guidance>;
  /** Likewise, for folders below its own. */
  near(guided: Guided, dirs: readonly string[]): Promise<Nearby>;
  /** The skills in reach of the process. Absent: none. */
  skills?(guided: Guided): Promise<SkillShelf>;
}
