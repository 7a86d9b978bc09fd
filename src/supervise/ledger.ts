/**
 * The records of one supervisor that runs: what a later daemon needs to bring it back. Each change is noted as a small record;
 * after many the whole state is written again, so that what is read at a restart stays short.
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
import { type SupervisorFold, supervisorFacet } from "./facet.ts";
import type { KeptChild, KeptRun, KeptSupervisor, SupervisorChange } from "./kept-supervisor.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";

/** Changes between two whole states. */
const CHANGES = 1_000;
/** Of an encoded state: a record holds 1 MiB. */
const MAX_BYTES = 900_000;

type Draft = Pick<JournalDraft, "kind" | "body">;

/** Of the kernel, what keeps records. */
interface Recorder {
  readonly ports: Pick<KernelPorts, "journal" | "log">;
  /** A record of a process that may wait for the next group. */
  note(proc: Process, kind: RecordKind, body: unknown): void;
}

/** What a project has come to by a request, while it runs. */
export interface Reshaped {
  readonly project: object;
  /** Ids of children that begin anew. */
  readonly added: ReadonlySet<string>;
  readonly request: RequestMark | undefined;
}

export class Ledger {
  readonly #core: Recorder;
  #proc: Process | null = null;
  #changes = 0;

  constructor(core: Recorder) {
    this.#core = core;
  }

  /** The records of its spawn. None: it is too large, and ends with the daemon. */
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

  /** That of an earlier daemon goes on, as its facts say. */
  resume(proc: Process): void {
    this.#proc = proc;
  }

  find(id: string): KeptChild | undefined {
    return this.#fold?.find(id);
  }

  /** Known already: nothing is written. */
  state({ id, state }: Child): void {
    const kept = this.find(id);
    if (kept !== undefined && kept.state !== state) this.note({ child: id, state });
  }

  /**
   * A project has changed: its children, or where its file is. What it is now replaces what was kept of it.
   */
  reshape(children: readonly Child[], { project, added, request }: Reshaped): void {
    if (this.#fold === null) return;
    const known = (id: string) => (added.has(id) ? undefined : this.find(id));
    const kept = children.map((child) => known(child.id) ?? child.kept);
    const marked = request === undefined ? {} : { request };
    this.#write({ ...this.#fold.kept, project, ...marked, children: kept });
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

  /** A record for others too: it is written however large the supervisor is. */
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
