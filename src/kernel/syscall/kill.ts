/** Kill(pid, signal): sends a signal. No-op on a zombie or dead process. */
import { SyscallError } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import { isSignal, type Signal } from "../../abi/process.ts";
import type { Call } from "./call.ts";

export const kill: Call<{ pid: Pid; signal: Signal }, void> = {
  name: "Kill",
  args: ({ pid, signal }) => ({ pid, signal }),
  async run(core, self, { pid, signal }) {
    if (!isSignal(signal)) {
      const message = `not a signal: ${String(signal)}; signals are 1 to 5`;
      throw new SyscallError({ syscall: "Kill", pid: self.pid, code: "INVALID", message });
    }
    await core.deliver(core.table.require(self.pid, pid, "Kill", "control"), signal);
  },
};
