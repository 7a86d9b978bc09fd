/**
 * Writes the records of a running supervisor that a later daemon needs to restore it. Each change is noted as a small
 * record; after `CHANGES` of them the whole state is written again, so that little must be read at a restart.
 */

import { PID_KERNEL } from "../abi/ids.ts";
import type { RequestMark } from "../abi/request-mark.ts";
import { keptAbove } from "../kernel/account/kept-account.ts";
import type { JournalDraft, RecordKind } from "../kernel/ports/journal.ts";
import type { KernelPorts } from "../kernel/ports/kernel-ports.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Child } from "./child.ts";
import type { Attendance } from "./child-runs.ts";
import { type Ending, keptEnding } from "./ending.ts";
import { type SupervisorFold, supervisorFacet } from "./record/facet.ts";
import type { KeptChild, KeptRun, KeptSupervisor, SupervisorChange } from "./record/kept-supervisor.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";

/** The number of changes between two whole states. */
const CHANGES = 1_000;
/** The size limit of an encoded state; a record holds 1 MiB. */
const MAX_BYTES = 900_000;

type Draft = Pick<JournalDraft, "kind" | "body">;

/** The part of the kernel that writes records. */
export interface LedgerKeeping {
  readonly ports: Pick<KernelPorts, "journal" | "log">;
  /** Writes a record that may wait for the next group commit. */
  note(proc: Process, kind: RecordKind, body: unknown): void;
}

/** A running project after a change by a request. */
export interface Reshaped {
  readonly project: object;
  /** Ids of children that start from the beginning. */
  readonly added: ReadonlySet<string>;
  readonly request: RequestMark | undefined;
}

export class Ledger {
  readonly #core: LedgerKeeping;
  #proc: Process | null = null;
  #changes = 0;

  constructor(core: LedgerKeeping) {
    this.#core = core;
  }

  /** The records for the spawn. Empty: the state is too large, so the supervisor ends with the daemon. */
  begin(proc: Process, children: readonly Child[], options: SupervisorOptions): readonly Draft[] {
    const kept = keptOf(proc, children, options);
    this.#proc = proc;
    if (!fits(kept)) {
      const words = `supervisor ${proc.seed.body.name}: too large to be brought back by a later daemon`;
      this.#core.ports.log("warn", words);
      return [];
    }
    proc.facts.change(supervisorFacet, "process.state", kept);
    return [{ kind: "process.state", body: kept }];
  }

  /** Continues the ledger of an earlier daemon, from the facts of the process. */
  resume(proc: Process): void {
    this.#proc = proc;
  }

  find(id: string): KeptChild | undefined {
    return this.#fold?.find(id);
  }

  /** Notes a new state, unless it is recorded already. */
  state({ id, state }: Child): void {
    const kept = this.find(id);
    if (kept !== undefined && kept.state !== state) this.note({ child: id, state });
  }

  /**
   * Records a changed project (its children, or the path of its file) as a new whole state.
   */
  reshape(children: readonly Child[], { project, added, request }: Reshaped): void {
    if (this.#fold === null) return;
    const known = (id: string) => (added.has(id) ? undefined : this.find(id));
    const kept = children.map((child) => known(child.id) ?? child.kept);
    const marked = request === undefined ? {} : { request };
    this.#write({ ...this.#fold.kept, project, ...marked, children: kept });
  }

  /** Records that the supervisor runs; resolves when this is synced. */
  async opened(): Promise<void> {
    this.note({ open: true });
    await this.#core.ports.journal.sync();
  }

  /** Notes the beginning of the end; an escalation has its own record. */
  ending(ending: Ending): void {
    const kept = keptEnding(ending);
    if (kept !== null) this.note({ ending: kept });
  }

  /** Adds the record of the run to those of its spawn, so that they are written together or not at all. */
  attendance({ id, endowment }: Child, attendance: Attendance): Attendance {
    const changeBy = (proc: Process): SupervisorChange => {
      const mode = proc.seed.kind === "supervisor" ? null : proc.seed.mode;
      return { child: id, run: runOf(proc), endowment: { ...endowment.kept, mode } };
    };
    return {
      ...attendance,
      alongside: (proc) => this.#drafts(changeBy(proc)),
      onMade: (proc) => {
        this.#take("process.checkpoint", changeBy(proc));
        attendance.onMade?.(proc);
      },
    };
  }

  note(change: SupervisorChange): void {
    if (this.#fold !== null) this.tell("process.checkpoint", change);
  }

  /** Writes a record that others read too, so also where the state is too large to be kept. */
  tell(kind: RecordKind, body: object): void {
    if (this.#proc === null) return;
    this.#core.note(this.#proc, kind, body);
    this.#take(kind, body);
  }

  get #fold(): SupervisorFold | null {
    return this.#proc?.facts.of(supervisorFacet) ?? null;
  }

  #take(kind: RecordKind, body: object): void {
    const fold = this.#proc?.facts.change(supervisorFacet, kind, body) ?? null;
    if (fold === null) return;
    this.#changes++;
    if (this.#changes >= CHANGES) this.#write(fold.kept);
  }

  #write(kept: KeptSupervisor): void {
    if (this.#proc === null) return;
    this.#changes = 0;
    this.#proc.facts.change(supervisorFacet, "process.state", kept);
    if (fits(kept)) this.#core.note(this.#proc, "process.state", kept);
  }

  #drafts(change: SupervisorChange): readonly JournalDraft[] {
    if (this.#proc === null || this.#fold === null) return [];
    const { pid, seed } = this.#proc;
    return [{ proc: seed.uuid, pid, kind: "process.checkpoint", v: 1, body: change }];
  }
}

function runOf({ pid, seed }: Process): KeptRun {
  return { pid, uuid: seed.uuid, at: seed.createdAt.getTime() };
}

/** The state of a supervisor at its start. */
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
    // with an observer it accepts calls immediately
    isOpen: observer !== undefined,
    ending: null,
    window: [],
    children: children.map(({ kept }) => kept),
  };
}

function fits(kept: KeptSupervisor): boolean {
  return Buffer.byteLength(JSON.stringify(kept)) <= MAX_BYTES;
}
