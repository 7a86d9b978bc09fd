/**
 * Runs a program in its process: created → running, the loop, its clean-up, the finish. The kernel owns the promise.
 */

import { printed, SyscallError } from "../../../abi/errors.ts";
import type { Pid } from "../../../abi/ids.ts";
import { EXIT, type ExitStatus } from "../../../abi/process.ts";
import { ABORTED } from "../../../lib/abort.ts";
import type { Accounting } from "../../account/accounting.ts";
import type { Admission } from "../../account/admission.ts";
import { countWork } from "../../account/wall-limit.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Sessions } from "../../ports/sessions.ts";
import { bodyOf } from "../body.ts";
import { type Finishing, finish } from "../end/finish.ts";
import type { Process } from "../process.ts";
import type { Notifying } from "../signal/notify.ts";
import { watchSteps } from "../team.ts";

/** What deadlines need of the kernel. */
export interface Timing {
  readonly ports: Pick<KernelPorts, "clock">;
  /** Ends a live process with this exit, after its usual grace. */
  end(proc: Process, exit: ExitStatus): void;
}

/** What a running program needs of the kernel. */
export type Running = Accounting &
  Finishing &
  Notifying &
  Timing & {
    readonly ports: Pick<KernelPorts, "starts">;
    readonly table: { get(pid: Pid): Process | undefined };
    readonly admission: Pick<Admission, "check" | "enter" | "leave">;
    readonly sessions: Pick<Sessions, "readOn">;
    readonly clockWatch: { enter(): void; leave(): void };
  };

export function runProgram(core: Running, proc: Process, timeoutMs: number): void {
  countWork(core, proc);
  core.clockWatch.enter();
  const over = (): void => {
    core.clockWatch.leave();
    core.admission.leave(proc);
  };
  proc.done.promise.then(over, over);
  proc.start(core.ports.clock.mono(), () => loop(core, proc, timeoutMs));
  core.admission.check();
  // it ends with the abort of the process
  watchSteps(core, proc).catch(() => {});
}

/**
 * The order at the end: refuse calls, end the threads, close the files, abort. So a file closed by the end of the
 * program is not an aborted one, and no thread still reads it.
 */
async function loop(core: Running, proc: Process, timeoutMs: number): Promise<void> {
  const stopDeadline = startDeadline(core, proc, timeoutMs);
  const exit = await run(core, proc);
  stopDeadline();
  proc.life.close();
  if (proc.threads !== null) await proc.threads.clear();
  await proc.fds.closeAll((error) => core.ports.log("warn", `pid ${proc.pid}: close: ${printed(error)}`));
  proc.abort.abort(ABORTED);
  if (proc.life.isResting) return;
  await finish(core, proc, exit);
  // reaping waits for this loop
  if (hasUnread(core, proc)) void core.sessions.readOn(proc);
}

/** It was sent a message after it had looked for one: as if it had been sent to one that has ended, whose parent lives. */
function hasUnread({ table }: Running, { seed, exit, mailbox, ppid }: Process): boolean {
  if (seed.child === undefined || exit?.reason !== EXIT.completed.reason) return false;
  return mailbox?.hasLetter === true && table.get(ppid)?.isLive === true;
}

/** A process killed during its spawn takes no step; a paused one takes none until it is resumed. */
async function run(core: Running, proc: Process): Promise<ExitStatus> {
  try {
    await proc.halt.untilAdmitted(proc.abort.signal);
    // after the queue, out of which many may come at once; before it is recorded: what is killed while it waits for its turn has not begun
    if (proc.seed.kind === "agent") await core.ports.starts?.next();
    await proc.halt.untilResumed(proc.abort.signal);
    if (proc.ending.verdict !== null) return proc.ending.verdict;
    const exit: ExitStatus | undefined = await bodyOf(proc).run(proc);
    return exit ?? EXIT.unexpected;
  } catch (error) {
    const err = error instanceof Error ? error : new Error(String(error));
    if (proc.ending.verdict === null && !proc.life.isResting)
      core.ports.log("error", `pid ${proc.pid}: the program failed: ${err.stack ?? err.message}`);
    return { ...EXIT.unexpected, err };
  }
}

/** Ends the process with `timeout`; pauses do not count. The timer ends with the run. */
export function startDeadline(core: Timing, proc: Process, timeoutMs: number): () => void {
  if (timeoutMs === 0) return () => {};
  const stop = new AbortController();
  proc.halt.untilRan(timeoutMs, core.ports.clock, stop.signal).then(
    () => {
      const message = `timeout after ${timeoutMs} ms`;
      const err = new SyscallError({ syscall: "Spawn", pid: proc.pid, code: "TIMEOUT", message });
      core.end(proc, { ...EXIT.timeout, err });
    },
    () => {},
  );
  return () => stop.abort(ABORTED);
}
