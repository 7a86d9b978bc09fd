/** Signal(pid, signal): kill() that tells what the signal met. */
import type { Pid } from "../../abi/ids.ts";
import type { Disposition, Signal } from "../../abi/process.ts";
import type { Core } from "../core.ts";
import { recorded } from "../ipc/deliver.ts";
import type { Process } from "../process/process.ts";
import type { Call } from "./call.ts";
import { checkSignal } from "./check-signal.ts";

export const signal: Call<{ pid: Pid; signal: Signal }, Disposition> = {
  name: "Signal",
  holds: true,
  args: ({ pid, signal }) => ({ pid, signal }),
  result: (disposition) => disposition,
  run: (core, self, { pid, signal }) => sendSignal(core, self, "Signal", pid, signal),
};

/** It acts at once; the caller hears of it when it is recorded. */
export async function sendSignal(
  core: Core,
  self: Process,
  syscall: "Kill" | "Signal",
  pid: Pid,
  signal: Signal,
): Promise<Disposition> {
  checkSignal(signal);
  const proc = core.table.require(self.pid, pid, syscall, "control");
  const disposition = await core.deliver(proc, signal);
  if (disposition !== "ignored") await recorded(core);
  return disposition;
}
