/** SigBlock(pid, signal): from now on the signal waits, pending, until it is unblocked. */
import type { Pid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import type { Call } from "../gate/call.ts";
import { SignalState } from "../ipc/signal-state.ts";
import { checkMaskable } from "./check-signal.ts";

export const sigBlock: Call<{ pid: Pid; signal: Signal }, void> = {
  name: "SigBlock",
  args: ({ pid, signal }) => ({ pid, signal }),
  run(core, self, { pid, signal }, { scope }) {
    checkMaskable(signal, scope);
    const proc = core.table.require(self.pid, pid, "SigBlock", "control");
    if (!proc.isLive) return;
    proc.signals ??= new SignalState();
    proc.signals.blocked.add(signal);
  },
};
