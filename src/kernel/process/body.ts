/**
 * What differs between the kinds of process: how one is made ready and what it runs. Spawn, the gate, signals and reaping
 * are the same for all.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import type { ExitStatus, ProcessKind, Signal } from "../../abi/process.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { Process } from "./process.ts";

export type Undo = () => Promise<void> | void;

/** A process in the table, before it is journalled. Each step pushes what takes it back. */
export interface Making {
  readonly core: Core;
  readonly parent: Process;
  readonly proc: Process;
  readonly opts: SpawnOpts;
  readonly undo: Undo[];
  /** The caller gave up, or a signal ended the process that is being made. */
  readonly signal: AbortSignal;
}

export interface Body {
  readonly kind: ProcessKind;
  /** Agent name, program, supervisor name; "" in general mode. */
  readonly name: string;
  readonly agent: AgentInfo | null;
  /** A process of this kind that works keeps the daemon alive. */
  readonly isActive: boolean;
  /** Contexts, devices, mounts, whatever must be there before the first step. Rejects: the spawn fails with it. */
  prepare(making: Making): Promise<void>;
  /** Until the end of the program. What a signal decided outranks what it returns. */
  run(core: Core, proc: Process): Promise<ExitStatus>;
  /** The default action where it is not the kernel's own: natives pass PAUSE, RESUME and INT on. True: that was all. */
  onSignal?(core: Core, proc: Process, signal: Signal): boolean;
  /** ms from a TERM that acts by default, or a deadline, to KILL; absent: the usual. */
  readonly termGraceMs?: number;
  /** Keys added to the record of the spawn. */
  record?(proc: Process): Record<string, unknown>;
  /** Further records of the spawn, one unit with it: what a later daemon needs to bring the process back. */
  keep?(making: Making): readonly (Pick<JournalDraft, "kind" | "body"> & Partial<Pick<JournalDraft, "v">>)[];
}
