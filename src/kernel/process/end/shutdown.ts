/**
 * The end of all processes when the daemon stops. Working processes are ended by TERM, a grace and KILL, and reaped. A
 * paused agent is laid to rest, and so is a session: its call in progress may finish within the grace, then it leaves
 * memory without an exit, for the next daemon to restore. A waiting session has no call in progress; a session within a
 * run is held as by a pause. Services end last, when all their users have ended, so that no call of a service is cut
 * off while its caller still waits for it.
 */

import { Fault, printed } from "../../../abi/errors.ts";
import { PID_KERNEL } from "../../../abi/ids.ts";
import { SIGNALS, type Signal } from "../../../abi/process.ts";
import { ABORTED } from "../../../lib/abort.ts";
import type { ContextSpaces } from "../../context/spaces.ts";
import type { Groups } from "../../ipc/groups.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Process } from "../process.ts";
import { STDIN } from "../spawn/stdio.ts";
import type { ProcessTable } from "../table.ts";
import { endWithin } from "./grace.ts";
import { type Reaping, reapProcess } from "./reap.ts";

/** What laying a process to rest needs of the kernel. */
export interface Resting {
  readonly ports: Pick<KernelPorts, "clock" | "log">;
  readonly mounts: { unmountOf(proc: Process): Promise<void> };
  readonly groups: Pick<Groups, "leaveAll">;
  readonly contexts: ContextSpaces;
  readonly table: Pick<ProcessTable, "remove">;
}

/** What the end of all processes needs of the kernel. */
interface ShuttingDown extends Resting {
  readonly ports: Reaping["ports"];
  readonly table: Reaping["table"] & Pick<ProcessTable, "all" | "get">;
  offer(proc: Process, when: "now"): void;
  forget(proc: Process): void;
  deliver(proc: Process, signal: Signal): Promise<unknown>;
}

/** Ends or lays to rest all processes except services. */
export async function endAll(core: ShuttingDown, graceMs: number): Promise<void> {
  await end(core, (proc) => !isService(proc), graceMs);
}

/** Ends the services, once all their users have ended. */
export async function endServices(core: ShuttingDown): Promise<void> {
  await end(core, isService, LIMITS.serviceGraceMs);
}

function isService({ seed }: Process): boolean {
  return seed.kind === "service";
}

async function end(core: ShuttingDown, isMeant: (proc: Process) => boolean, graceMs: number): Promise<void> {
  const live = [...core.table.all()].filter((proc) => proc.isLive && isMeant(proc));
  const paused = new Set(live.filter((proc) => mayRest(core, proc)));
  const ending = live.filter((proc) => !paused.has(proc));
  // not by a signal: nobody requested this pause, and the restored process must not stay paused by it
  for (const proc of paused) proc.pause(core.ports.clock.mono());
  for (const proc of ending) await core.deliver(proc, SIGNALS.SIGTERM);
  const ends = [
    ...ending.map(({ done }) => done.promise),
    ...[...paused].map((proc) => untilQuiescent(core, proc)),
  ];
  await endWithin(core.ports.clock, ends, graceMs);
  // a process that was resumed meanwhile is ended like the others
  const resting = new Set([...paused].filter((proc) => mayRest(core, proc)));
  const rest = live.filter((proc) => !resting.has(proc));
  for (const proc of rest) await core.deliver(proc, SIGNALS.SIGKILL);
  await Promise.allSettled(rest.map(({ done }) => done.promise));
  const leaving = [...core.table.all()]
    .filter(isMeant)
    .map((proc) =>
      resting.has(proc) ? layToRest(core, proc, "the daemon stopped") : reapProcess(core, proc),
    );
  await Promise.all(leaving);
}

/**
 * Whether it can be restored as it is: its ancestors rest too, and it has no stdin, which would end with this daemon.
 */
function mayRest(core: Pick<ShuttingDown, "table">, proc: Process): boolean {
  const mayHold = proc.isPaused || proc.conversation !== null;
  const isHeld = proc.life.now.is === "running" && mayHold && proc.ending.verdict === null;
  if (!isHeld || !proc.past.isRestorable || proc.fds.has(STDIN)) return false;
  if (proc.ppid === PID_KERNEL) return true;
  const parent = core.table.get(proc.ppid);
  return parent !== undefined && mayRest(core, parent);
}

/** Resolves when its last action is in the journal, and it has not begun another since. */
async function untilQuiescent(
  core: Pick<ShuttingDown, "ports">,
  { halt: { quiescence }, conversation }: Process,
): Promise<void> {
  if (conversation !== null && conversation.run === null) return;
  do {
    await quiescence.reached();
    await core.ports.journal.sync().catch(() => {});
  } while (!quiescence.isQuiescent);
}

/**
 * Removes the process from memory without an exit. Nothing that it does from here on counts: a call in progress is cut
 * off, and its outcome is unknown to the next daemon. Idempotent.
 */
export function layToRest(core: Resting, proc: Process, why: string): Promise<void> {
  return proc.life.rest() ? goToRest(core, proc, why) : untilGone(proc);
}

/** Resolves when a process that is being laid to rest has left memory; at once for any other. */
export async function untilGone(proc: Process | undefined): Promise<void> {
  if (proc?.life.isResting === true) await proc.done.promise.catch(() => {});
}

async function goToRest(core: Resting, proc: Process, why: string): Promise<void> {
  proc.abort.abort(ABORTED);
  if (!(await endWithin(core.ports.clock, [proc.life.loop], LIMITS.loopGraceMs)))
    proc.fds.abandonAll((error) => core.ports.log("warn", `pid ${proc.pid}: close: ${printed(error)}`));
  await core.mounts.unmountOf(proc);
  tell(core, proc, why);
  leave(core, proc);
}

/** Reports to its watchers that it rests and did not end. */
function tell(core: Resting, proc: Process, why: string): void {
  const { pid, conversation } = proc;
  const message = `${why}; process ${pid} rests${conversation === null ? " paused" : ""}`;
  // an agent is paused again under the next daemon; a session waits for its next message
  const fact = { kind: conversation === null ? "paused" : "resting", pid } as const;
  const error = new Fault({ code: "UNAVAILABLE", message, fact });
  proc.tell({ event: "error", pid, message, error }, core.ports.clock.mono());
  proc.watchers.end();
  proc.closeChannels();
  proc.done.reject(error);
}

/** Frees its memory. What it has on disk stays: its history, its outputs, its scratch folder. */
function leave(core: Resting, proc: Process): void {
  proc.mailbox?.close();
  proc.signals?.clear();
  core.groups.leaveAll(proc);
  proc.contexts.freeAll(core.contexts);
  core.table.remove(proc.pid);
}
