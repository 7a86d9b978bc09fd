/** Reap(pid): frees a zombie without waiting. A second call is a no-op. */
import { SyscallError } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { reapProcess } from "../process/reap.ts";

export const reap: Call<{ pid: Pid }, void> = {
  name: "Reap",
  args: ({ pid }) => ({ pid }),
  async run(core, self, { pid }) {
    const proc = core.table.require(self.pid, pid, "Reap", "control");
    if (proc.isLive) {
      const message = `process ${pid} is ${proc.state}, not a zombie`;
      throw new SyscallError({ syscall: "Reap", pid: self.pid, code: "CONFLICT", message });
    }
    await reapProcess(core, proc);
  },
};
