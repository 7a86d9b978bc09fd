/**
 * The records of one supervisor that runs: what a later daemon needs to bring it back. Each change is noted as a small record;
 * after many the whole state is written again, so that what is read at a restart stays short.
 */

import { PID_KERNEL } from "../abi/ids.ts";
import type { RequestMark } from "../abi/request-mark.ts";
import { keptAbove } from "../kernel/account/kept-account.ts";
import type { Core } from "../kernel/core.ts";
import type { JournalDraft, RecordOwner } from "../kernel/ports/journal.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Child } from "./child.ts";
import type { Attendance } from "./child-runs.ts";
import type { KeptProject } from "./compose/kept.ts";
import { type Ending, keptEnding } from "./ending.ts";
import {
  type KeptChild,
  type KeptCrash,
  type KeptEnding,
  type KeptEndowment,
  type KeptRun,
  type KeptSupervisor,
  type SupervisorChange,
  SupervisorFold,
} from "./kept-supervisor.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";

/** Changes between two whole states. */
const CHANGES = 1_000;
/** Of an encoded state: a record holds 1 MiB. */
const MAX_BYTES = 900_000;

type Draft = Pick<JournalDraft, "kind" | "body">;

export class Ledger {
  readonly #core: Core;
  #open: { readonly proc: Process; readonly fold: SupervisorFold } | null = null;
  #changes = 0;

  constructor(core: Core) {
    this.#core = core;
  }

  /** The records of its spawn. None: it is too large, and ends with the daemon. */
  begin(proc: Process, children: readonly Child[], options: SupervisorOptions): readonly Draft[] {
    const kept = keptOf(proc, children, options);
    if (!fits(kept)) {
      const words = `supervisor ${proc.seed.body.name}: too large to be brought back by a later daemon`;
      this.#core.ports.log("warn", words);
      return [];
    }
    this.#open = { proc, fold: new SupervisorFold(kept) };
    return [{ kind: "process.state", body: kept }];
  }

  /** That of an earlier daemon goes on. */
  resume(proc: Process, fold: SupervisorFold): void {
    this.#open = { proc, fold };
  }

  find(id: string): KeptChild | undefined {
    return this.#open?.fold.find(id);
  }

  /** Known already: nothing is written. */
  state({ id, state }: Child): void {
    const kept = this.find(id);
    if (kept !== undefined && kept.state !== state) this.note({ child: id, state });
  }

  /** Noted by who tells of it. */
  crash(report: KeptCrash): void {
    this.#apply((fold) => fold.crash(report));
  }

  /** Noted by who tells of it. */
  ended(ending: KeptEnding): void {
    this.#apply((fold) => fold.change({ ending }));
  }

  /**
   * A project has changed: its children, or where its file is. What it is now replaces what was kept of it; `added` are ids of
   * children that begin anew.
   */
  reshape(
    project: KeptProject,
    children: readonly Child[],
    added: ReadonlySet<string>,
    request: RequestMark | undefined,
  ): void {
    const known = (id: string) => (added.has(id) ? undefined : this.find(id));
    const kept = children.map((child) => known(child.id) ?? child.kept);
    this.#open?.fold.reshape(project, kept, request);
    this.#write();
  }

  /** Resolves when the journal has it that the supervisor runs. */
  async opened(): Promise<void> {
    this.note({ open: true });
    await this.#core.ports.journal.sync();
  }

  /** Its end begins; told elsewhere where it has given up. */
  ending(ending: Ending): void {
    const kept = keptEnding(ending);
    if (kept !== null) this.note({ ending: kept });
  }

  /** The record of a run is one with that of its spawn: no daemon finds one without the other. */
  attendance({ id, endowment }: Child, attendance: Attendance): Attendance {
    const now = ({ seed }: Process): KeptEndowment => ({
      ...endowment.kept,
      mode: seed.kind === "supervisor" ? null : seed.mode,
    });
    return {
      ...attendance,
      alongside: (proc) => this.#drafts(id, proc, now(proc)),
      onMade: (proc) => {
        this.#apply((fold) => fold.change({ child: id, run: runOf(proc), endowment: now(proc) }));
        attendance.onMade?.(proc);
      },
    };
  }

  note(change: SupervisorChange): void {
    if (this.#open === null) return;
    this.#core.note(this.#open.proc, "process.checkpoint", change);
    this.#apply((fold) => fold.change(change));
  }

  #apply(change: (fold: SupervisorFold) => void): void {
    if (this.#open === null) return;
    change(this.#open.fold);
    this.#changes++;
    if (this.#changes >= CHANGES) this.#write();
  }

  #write(): void {
    if (this.#open === null) return;
    const { proc, fold } = this.#open;
    const { kept } = fold;
    this.#changes = 0;
    if (fits(kept)) this.#core.note(proc, "process.state", kept);
  }

  #drafts(child: string, proc: Process, endowment: KeptEndowment): readonly JournalDraft[] {
    if (this.#open === null) return [];
    const body = { child, run: runOf(proc), endowment } satisfies SupervisorChange;
    return [{ ...ownerOf(this.#open.proc), kind: "process.checkpoint", v: 1, body }];
  }
}

function runOf({ pid, seed }: Process): KeptRun {
  return { pid, uuid: seed.uuid, at: seed.createdAt.getTime() };
}

/** Of one that begins. */
function keptOf(
  proc: Process,
  children: readonly Child[],
  { rights, nestedAs, project, observer }: SupervisorOptions,
): KeptSupervisor {
  const { roots, onParentExit, session } = proc.seed;
  return {
    supervisor: 1,
    ...keptAbove(proc.seed.account),
    roots,
    onParentExit,
    session: session.owner,
    rights: rights?.pid === PID_KERNEL ? "person" : "own",
    nestedAs: nestedAs ?? null,
    project: project ?? null,
    // with an observer it takes calls at once
    isOpen: observer !== undefined,
    ending: null,
    window: [],
    children: children.map(({ kept }) => kept),
  };
}

function fits(kept: KeptSupervisor): boolean {
  return Buffer.byteLength(JSON.stringify(kept)) <= MAX_BYTES;
}

function ownerOf({ seed, pid }: Process): RecordOwner {
  return { proc: seed.uuid, pid };
}
