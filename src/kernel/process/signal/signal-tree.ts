/** Sends a signal to a process and all its descendants. */

import { PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import type { Signal } from "../../../abi/process.ts";
import type { JournalHold } from "../../ports/journal-hold.ts";
import type { Process } from "../process.ts";
import type { ProcessTable } from "../table.ts";
import { checkKept, recorded, type SignalKeeping } from "./deliver.ts";

/** What signalling a tree needs of the kernel. */
interface Signalling extends SignalKeeping {
  readonly table: Pick<ProcessTable, "childrenOf" | "require">;
  readonly root: Process;
  readonly journalWatch: Pick<JournalHold<never>, "fact" | "check">;
  deliver(proc: Process, signal: Signal): Promise<unknown>;
}

/**
 * Delivers to all in one step, parents first, so that a parent starts no more children. Returns the pids reached,
 * rising. NOT_FOUND: no such process.
 */
export async function signalTree(core: Signalling, pid: Pid, signal: Signal): Promise<Pid[]> {
  const top = core.table.require(PID_KERNEL, pid, "Signal", "control");
  checkKept({ core, self: core.root }, "Signal", signal);
  const live = subtree(core, top).filter((proc) => proc.isLive);
  await Promise.all(live.map((proc) => core.deliver(proc, signal)));
  if (live.length > 0) await recorded(core);
  return live.map((proc) => proc.pid).sort((a, b) => a - b);
}

/** The process and its descendants, parents before children. */
function subtree({ table }: Pick<Signalling, "table">, top: Process): Process[] {
  const found = [top];
  for (const proc of found) found.push(...table.childrenOf(proc.pid));
  return found;
}
