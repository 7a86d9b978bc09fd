/** zombie → dead: twelve steps in this order, once. A step that fails is logged and the next one runs. */

import { printed } from "../../../abi/errors.ts";
import { ABORTED, abortable } from "../../../lib/abort.ts";
import type { ContextSpaces } from "../../context/spaces.ts";
import type { Groups } from "../../ipc/groups.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import type { Process } from "../process.ts";
import type { ProcessTable } from "../table.ts";
import { settleWorktree, type Treeing } from "../tree/worktree.ts";

/** What reaping needs of the kernel. */
export interface Reaping {
  readonly ports: Pick<KernelPorts, "clock" | "journal" | "log" | "onReaped"> & Treeing["ports"];
  readonly table: Pick<ProcessTable, "all" | "orphanChildren" | "remove">;
  readonly groups: Pick<Groups, "leaveAll">;
  readonly contexts: ContextSpaces;
  offer(proc: Process, when: "now"): void;
  forget(proc: Process): void;
}

export function reapProcess(core: Reaping, proc: Process): Promise<void> {
  return proc.life.reap(() => reapOnce(core, proc));
}

async function reapOnce(core: Reaping, proc: Process): Promise<void> {
  const steps: readonly [string, () => Promise<void> | void][] = [
    ["orphans", () => handleOrphanChildren(core, proc)],
    ["cancel", () => proc.abort.abort(ABORTED)],
    ["loop", () => waitForLoop(core, proc)],
    ["channels", () => proc.closeChannels()],
    ["mailbox", () => proc.mailbox?.close()],
    ["groups", () => core.groups.leaveAll(proc)],
    ["signals", () => clearSignals(core, proc)],
    ["threads", () => proc.threads?.clear()],
    ["coroutines", () => proc.coroutines.clear(proc.pid, core.ports)],
    ["contexts", () => proc.contexts.freeAll(core.contexts)],
    ["dead", () => proc.life.bury()],
    ["table", () => leaveTable(core, proc)],
  ];
  for (const [name, step] of steps) {
    try {
      await step();
    } catch (error) {
      core.ports.log("error", `pid ${proc.pid}: reaping, ${name}: ${printed(error)}`);
    }
  }
}

/** Zombies that are reaped in one round of the event loop: hundreds at once would hold it. */
const REAPED_OF_ROUND = 16;

/** Gives the children to the kernel. Those that end with their parent were already sent TERM at its exit. */
async function handleOrphanChildren(core: Reaping, proc: Process): Promise<void> {
  // one that ends between two rounds is shown for a while as any other
  const ended = core.table.orphanChildren(proc.pid).filter(({ isLive }) => !isLive);
  for (const [n, child] of ended.entries()) {
    if (n > 0 && n % REAPED_OF_ROUND === 0) await new Promise((resolve) => setImmediate(resolve));
    core.offer(child, "now");
  }
}

/** The loop closes all fds at its end. A loop that does not end is abandoned after 5 s: its handle is dead already. */
async function waitForLoop(core: Reaping, proc: Process): Promise<void> {
  const giveUp = new AbortController();
  const stop = new AbortController();
  core.ports.clock.sleep(LIMITS.loopGraceMs, stop.signal).then(
    () => giveUp.abort(ABORTED),
    () => {},
  );
  try {
    await abortable(proc.life.loop, giveUp.signal);
  } catch {
    core.ports.log("error", `pid ${proc.pid}: process.loop_abandoned`);
    proc.fds.abandonAll((error) => core.ports.log("warn", `pid ${proc.pid}: close: ${printed(error)}`));
  } finally {
    stop.abort(ABORTED);
  }
}

function clearSignals(core: Reaping, proc: Process): void {
  proc.signals?.clear();
  proc.resume(core.ports.clock.mono());
}

async function leaveTable(core: Reaping, proc: Process): Promise<void> {
  core.table.remove(proc.pid);
  core.forget(proc);
  core.ports.journal.note([{ proc: proc.seed.uuid, pid: proc.pid, kind: "process.reaped", v: 1, body: {} }]);
  settleWorktree(core, proc);
  await core.ports.onReaped(proc.seed.uuid);
}
