/**
 * What differs between the kinds of process: how one is made ready and what it runs. Spawn, the gate, signals and reaping
 * are the same for all.
 */
import type { ExitStatus, Signal } from "../../abi/process.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import type { Core } from "../core.ts";
import type { JournalDraft } from "../ports/journal.ts";
import type { Process } from "./process.ts";
import type { BodyFacts } from "./process-seed.ts";

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

export interface Body extends BodyFacts {
  /** Contexts, devices, mounts, whatever must be there before the first step. Rejects: the spawn fails with it. */
  prepare(making: Making): Promise<void>;
  /** Until the end of the program. What a signal decided outranks what it returns. */
  run(core: Core, proc: Process): Promise<ExitStatus>;
  /** The default action where it is not the kernel's own: natives pass PAUSE, RESUME and INT on. True: that was all. */
  onSignal?(core: Core, proc: Process, signal: Signal): boolean;
  /** Keys added to the record of the spawn. */
  record?(proc: Process): Record<string, unknown>;
  /** Further records of the spawn, one unit with it: what a later daemon needs to bring the process back. */
  keep?(making: Making): readonly (Pick<JournalDraft, "kind" | "body"> & Partial<Pick<JournalDraft, "v">>)[];
}

/** Every process is made with one. */
export function bodyOf({ seed }: Process): Body {
  return seed.body as Body;
}
