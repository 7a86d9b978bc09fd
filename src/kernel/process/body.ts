/**
 * What differs between the kinds of process: how a process is prepared and what it runs. Spawn, the gate, signals and
 * reaping are the same for all. A body is made with what it needs of the kernel.
 */
import type { ExitStatus, Signal } from "../../abi/process.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { Process } from "./process.ts";
import type { BodyFacts } from "./process-seed.ts";

export type Undo = () => Promise<void> | void;

/** A process in the table, before it is journalled. Each step pushes its own undo. */
export interface Making {
  readonly parent: Process;
  readonly proc: Process;
  readonly opts: SpawnOpts;
  readonly undo: Undo[];
  /** Fires when the caller gives up, or when a signal ends the process during its spawn. */
  readonly signal: AbortSignal;
}

export interface Body extends BodyFacts {
  /** Sets up what must exist before the first step: contexts, devices, mounts. A rejection fails the spawn. */
  prepare(making: Making): Promise<void>;
  /** Runs the program to its end. An exit decided by a signal outranks the returned one. */
  run(proc: Process): Promise<ExitStatus>;
  /** The default action, if it is not the kernel's: natives forward PAUSE, RESUME and INT. True: fully handled. */
  onSignal?(proc: Process, signal: Signal): boolean;
  /** Keys added to the record of the spawn. */
  record?(proc: Process): Record<string, unknown>;
  /** Further records, atomic with the record of the spawn: what a later daemon needs to restore the process. */
  keep?(making: Making): readonly (Pick<JournalDraft, "kind" | "body"> & Partial<Pick<JournalDraft, "v">>)[];
}

/** Every process is created with a `Body`; its seed declares only the `BodyFacts` part. */
export function bodyOf({ seed }: Process): Body {
  return seed.body as Body;
}
