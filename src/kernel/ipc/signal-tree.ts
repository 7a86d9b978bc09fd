/** A signal to a process and all below it. */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import type { Core } from "../core.ts";

/**
 * From the top down: a parent that is told first starts no more children. Those reached, by rising pid. NOT_FOUND: no such
 * process.
 */
export async function signalTree(core: Core, pid: Pid, signal: Signal): Promise<Pid[]> {
  const top = core.table.require(PID_KERNEL, pid, "Signal", "control");
  const reached: Pid[] = [];
  const told = new Set<Pid>();
  for (const queue = [top]; ; ) {
    const proc = queue.shift();
    if (proc === undefined) return reached.sort((a, b) => a - b);
    if (told.has(proc.pid)) continue;
    told.add(proc.pid);
    if (proc.isLive) {
      await core.deliver(proc, signal);
      reached.push(proc.pid);
    }
    for (const child of proc.children) {
      const found = core.table.get(child);
      if (found !== undefined) queue.push(found);
    }
  }
}
