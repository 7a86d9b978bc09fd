/**
 * Where a process works and what guides it there. The daemon finds it out once for each process, apart from the rights
 * of the process: the files are those of the administrator, of the user and of a workspace that the user has trusted.
 */
import type { AgentLine } from "./agent.ts";
import type { SandboxKind, SandboxNetwork } from "./sandbox.ts";
import type { SkillLine } from "./skill.ts";

/** Where commands of a process may write, and what they reach. */
export interface Confinement {
  /** Real paths, without the scratch folder. */
  readonly write: readonly string[];
  readonly network: "host" | "off" | SandboxNetwork;
  /** What confines them, if that is known. */
  readonly kind?: SandboxKind;
}

export type InstructionScope = "policy" | "user" | "project" | "nested";

/** An instruction file, with its imports in place of their marks. */
export interface InstructionText {
  readonly path: string;
  readonly scope: InstructionScope;
  readonly text: string;
}

/** What was found for folders that a process has touched. */
export interface Nearby {
  readonly instructions: readonly InstructionText[];
  /** Skills that its model may use. Absent: none, or the process predates them. */
  readonly skills?: readonly SkillLine[];
  /** Files that were left out or cut, and why, for the user. */
  readonly notices: readonly string[];
}

/** The index of a folder of memory, cut to its bound. */
export interface MemoryIndex {
  readonly scope: "local" | "user";
  readonly path: string;
  readonly text: string;
}

/** What a note is about. */
export interface NoteLine {
  readonly path: string;
  readonly name: string;
  readonly description: string;
  /** The day on which it was changed last. */
  readonly day: string;
}

/** Folders of notes that outlive a process. */
export interface Memory {
  /** Of this user and this project. */
  readonly local: string;
  /** Of this user, for all projects. */
  readonly user: string;
  /** Notes are taken of a session by themselves. Absent: they are not, or the folder is not trusted. */
  readonly isTaken?: true;
  /** Its notes are tidied by themselves. Absent: they are not, the folder is not trusted, or the process predates it. */
  readonly isTidied?: true;
  /** Of the folders that have one, broad to specific. */
  readonly indexes: readonly MemoryIndex[];
  /** The notes of the agent itself: their folder, and their index, "" if there is none. Absent: it keeps none. */
  readonly own?: { readonly dir: string; readonly index: string };
  /** The newest notes, for recall. Absent: there are none, or the process predates them. */
  readonly notes?: readonly NoteLine[];
}

export interface Surroundings extends Nearby {
  /** The agents that it may start. Absent: none, or the process predates them. */
  readonly agents?: readonly AgentLine[];
  /** Absent: it is off, or the process predates it. */
  readonly memory?: Memory;
  /** null: commands run without a sandbox. */
  readonly confinement: Confinement | null;
  /** The scratch folder; "": none. */
  readonly scratch: string;
  /** The folder that all agents of its session share. Absent: there is none, or the process predates it. */
  readonly scratchpad?: string;
  /** Branch, state and last commits of the repository, as text. "": none, not trusted, or git took too long. */
  readonly git: string;
}

/** What the notes were before they were tidied last: a list of KeptNote, as JSON. */
export const BEFORE_FILE = ".before.md";

export interface KeptNote {
  readonly file: string;
  /** null: there was none. */
  readonly was: string | null;
  /** The SHA-256 of what took its place, hex; null: it was removed. */
  readonly now: string | null;
}
