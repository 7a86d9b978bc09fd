/** Signal(pid, signal): kill() that tells what the signal met. */
import type { Pid } from "../../abi/ids.ts";
import type { Disposition, Signal } from "../../abi/process.ts";
import type { Call } from "./call.ts";
import { checkSignal } from "./check-signal.ts";

export const signal: Call<{ pid: Pid; signal: Signal }, Disposition> = {
  name: "Signal",
  args: ({ pid, signal }) => ({ pid, signal }),
  result: (disposition) => disposition,
  run(core, self, { pid, signal }) {
    checkSignal("Signal", self, signal);
    return core.deliver(core.table.require(self.pid, pid, "Signal", "control"), signal);
  },
};
