/** The parts of the kernel as the calls see them. One instance per daemon, made in kernel.ts. */

import type { Pid, ProcUuid } from "../abi/ids.ts";
import type { Disposition, ExitStatus, ProcInfo, Signal } from "../abi/process.ts";
import type { Begun } from "../abi/program.ts";
import type { ContextMessage, Syscalls } from "../abi/sys.ts";
import type { Asks } from "../consent/ask/asks.ts";
import type { Judge } from "../consent/classify/judge.ts";
import type { Grants } from "../consent/grants/grants.ts";
import type { FileLabels } from "../consent/labels/file-labels.ts";
import type { RestingSessions } from "../session/resting.ts";
import type { ProjectRoster } from "../supervise/compose/roster.ts";
import type { ClockWatch } from "./clock-watch.ts";
import type { ContextSpaces } from "./context/spaces.ts";
import type { Consent } from "./gate/consent.ts";
import type { Scope } from "./gate/scope.ts";
import type { Groups } from "./ipc/groups.ts";
import type { JournalWatch } from "./journal-watch.ts";
import type { KeptEnds } from "./kept-ends.ts";
import type { RecordKind } from "./ports/journal.ts";
import type { KernelPorts } from "./ports/kernel-ports.ts";
import type { SupervisorControl } from "./ports/supervisors.ts";
import type { Process } from "./process/process.ts";
import type { ProcessTable } from "./process/table.ts";
import type { ThreadSeat } from "./process/thread/reason.ts";
import type { Mounts } from "./vfs/mounts.ts";
import type { DeviceRegistry } from "./vfs/registry.ts";

export interface Core {
  readonly ports: KernelPorts;
  readonly table: ProcessTable;
  readonly devices: DeviceRegistry;
  readonly contexts: ContextSpaces;
  readonly asks: Asks;
  readonly grants: Grants;
  readonly consent: Consent;
  readonly classifications: Judge;
  readonly groups: Groups;
  readonly mounts: Mounts;
  readonly fileLabels: FileLabels;
  readonly journalWatch: JournalWatch;
  readonly keptEnds: KeptEnds;
  readonly clockWatch: ClockWatch;
  /** Called when a process is paused, ends, or leaves memory. */
  readonly snapshots: { rests(proc: Process): void };
  /** Running supervisors, by pid; each enters and removes itself. */
  readonly supervisors: Map<Pid, SupervisorControl>;
  readonly projects: ProjectRoster;
  readonly sessions: RestingSessions;
  /** pid 0. */
  readonly root: Process;
  /** false once shutdown has begun: no new processes. */
  readonly accepting: boolean;
  /** Pids rise by one and are never used again. */
  nextPid(): Pid;
  /** The session may be idle from now on: if it stays so, it leaves memory. */
  idle(proc: Process): void;
  /** Message numbers rise over the whole kernel. */
  nextMessage(): number;
  /** Numbers the pipes of this daemon. */
  nextPipe(): number;
  /** Notes a record of a process; it may wait for the next group. */
  note(proc: Process, kind: RecordKind, body: unknown): void;
  /** The messages of its main context with these numbers, from its records. */
  messagesOf(
    proc: { readonly seed: { readonly uuid: ProcUuid } },
    numbers: readonly number[],
  ): Promise<ReadonlyMap<number, ContextMessage>>;
  /** What the lists of processes show of it. */
  info(proc: Process): ProcInfo;
  /** Hands a zombie whose parent is the kernel to the reaper: `now`, or once it has been seen. */
  offer(proc: Process, when: "now" | "seen"): void;
  /** The process has left the table: the reaper stops waiting for it. */
  forget(proc: Process): void;
  /** The signal has acted when the call returns. `graceMs`, with TERM: KILL follows after it, whatever TERM did. */
  deliver(proc: Process, signal: Signal, graceMs?: number): Promise<Disposition>;
  /** Ends a live process with this exit, after its usual grace. An exit that was decided before stands. */
  end(proc: Process, exit: ExitStatus): void;
  /**
   * The handle of a process; with a scope, one with narrower rights; with a signal, all its calls are aborted with it.
   */
  handle(self: Process, scope: Scope | null, signal?: AbortSignal): Syscalls;
  /** The handle and the start of its program, or of one further thread of it. */
  program(proc: Process, seat?: ThreadSeat): Begun;
}
