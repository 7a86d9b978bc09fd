/** Signal(pid, signal): kill() that tells what the signal met. */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { type Disposition, SIGNALS, type Signal } from "../../abi/process.ts";
import type { Core } from "../core.ts";
import type { Call } from "../gate/call.ts";
import { recorded } from "../ipc/deliver.ts";
import type { Process } from "../process/process.ts";
import { recalled } from "../recover/wake.ts";
import { checkSignal } from "./check-signal.ts";

const ENDS: ReadonlySet<Signal> = new Set([SIGNALS.SIGTERM, SIGNALS.SIGINT, SIGNALS.SIGKILL]);

export const signal: Call<{ pid: Pid; signal: Signal }, Disposition> = {
  name: "Signal",
  holds: true,
  args: ({ pid, signal }) => ({ pid, signal }),
  result: (disposition) => disposition,
  run: (core, self, { pid, signal }) => sendSignal(core, self, "Signal", pid, signal),
};

/** What ends a process acts whatever the disk does; anything else that could not be kept is not begun for a person. */
export function checkKept(core: Core, self: Process, syscall: string, signal: Signal): void {
  if (self.pid === PID_KERNEL && !ENDS.has(signal)) core.journalWatch.check(syscall);
}

/** It acts at once; the caller hears of it when it is recorded. */
export async function sendSignal(
  core: Core,
  self: Process,
  syscall: "Kill" | "Signal",
  pid: Pid,
  signal: Signal,
): Promise<Disposition> {
  checkSignal(signal);
  if (self.pid === PID_KERNEL && !core.sessions.isHere(pid)) {
    const met = await core.sessions.signalResting(pid, signal);
    if (met !== undefined) return met;
  }
  const proc = core.table.require(self.pid, pid, syscall, "control");
  checkKept(core, self, syscall, signal);
  // who lets one go on that an earlier daemon left hears when it cannot; any other is met in this turn
  const isUnread = proc.recall !== null && proc.paused !== null;
  if (isUnread && self.pid === PID_KERNEL && signal === SIGNALS.SIGRESUME) await recalled(proc);
  const disposition = await core.deliver(proc, signal);
  if (disposition !== "ignored") await recorded(core);
  return disposition;
}
