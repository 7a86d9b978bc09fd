/** SigHandle(signal): what the caller itself does at a signal, from now on. */
import { Fault } from "../../abi/errors.ts";
import type { Signal, SignalAction } from "../../abi/process.ts";
import type { Call } from "../gate/call.ts";
import { SignalState } from "../ipc/signal-state.ts";
import { checkMaskable } from "./check-signal.ts";

export const sigHandle: Call<{ signal: Signal; action: SignalAction }, void> = {
  name: "SigHandle",
  args: ({ signal }) => ({ signal }),
  run(core, self, { signal, action }, { scope }) {
    checkMaskable(signal, scope);
    if (typeof action !== "function" && action !== "default" && action !== "ignore")
      throw new Fault({ code: "INVALID", message: `not an action: ${String(action)}` });
    // pid 0 takes no signals: it is not in the table
    const proc = core.table.require(self.pid, self.pid, "SigHandle", "control");
    if (action === "default") {
      proc.signals?.handlers.delete(signal);
      return;
    }
    proc.signals ??= new SignalState();
    proc.signals.handlers.set(signal, action);
  },
};
