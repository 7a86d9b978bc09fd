/**
 * Ends all processes when nothing can be journalled any more. None of them exits, since an exit that is not recorded
 * must not be announced: they leave memory, what they started is killed at once, and the next daemon resumes them from
 * the journal.
 */

import { Fault, printed } from "../../../abi/errors.ts";
import { ABORTED } from "../../../lib/abort.ts";
import type { ContextSpaces } from "../../context/spaces.ts";
import type { Groups } from "../../ipc/groups.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Process } from "../process.ts";
import type { ProcessTable } from "../table.ts";
import { endWithin } from "./grace.ts";

/** What leaving memory needs of the kernel. */
interface Leaving {
  readonly ports: Pick<KernelPorts, "clock" | "log">;
  readonly table: Pick<ProcessTable, "all" | "remove">;
  readonly groups: Pick<Groups, "leaveAll">;
  readonly contexts: ContextSpaces;
}

/** Takes at most `loopGraceMs`, the time that programs get to end; then their files are abandoned. */
export async function abandonAll(core: Leaving, words: string): Promise<void> {
  const live = [...core.table.all()].filter((proc) => proc.isLive);
  // in one step, so that no process is notified of another's end and acts on it
  for (const proc of live) cut(proc);
  await Promise.all(live.map((proc) => leave(core, proc, words)));
}

function cut(proc: Process): void {
  proc.life.rest();
  proc.killed.abort(ABORTED);
  proc.abort.abort(ABORTED);
  proc.life.hurry();
}

async function leave(core: Leaving, proc: Process, words: string): Promise<void> {
  tell(core, proc, words);
  if (!(await endWithin(core.ports.clock, [proc.life.loop], LIMITS.loopGraceMs)))
    proc.fds.abandonAll((error) => core.ports.log("warn", `pid ${proc.pid}: close: ${printed(error)}`));
  proc.resume(core.ports.clock.mono());
  proc.mailbox?.close();
  core.groups.leaveAll(proc);
  proc.contexts.freeAll(core.contexts);
  core.table.remove(proc.pid);
}

function tell(core: Leaving, proc: Process, words: string): void {
  const { pid } = proc;
  const message = `the daemon stopped, process ${pid} with it: ${words}`;
  const error = new Fault({ code: "UNAVAILABLE", message, fact: { kind: "stopping" } });
  proc.tell({ event: "error", pid, message, error }, core.ports.clock.mono());
  proc.watchers.end();
  proc.closeChannels();
  proc.done.reject(error);
}
