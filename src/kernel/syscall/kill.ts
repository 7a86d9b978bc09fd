/** Kill(pid, signal): on a zombie or dead process a no-op. */
import type { Pid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import type { Call } from "./call.ts";
import { checkSignal } from "./check-signal.ts";

export const kill: Call<{ pid: Pid; signal: Signal }, void> = {
  name: "Kill",
  args: ({ pid, signal }) => ({ pid, signal }),
  async run(core, self, { pid, signal }) {
    checkSignal("Kill", self, signal);
    await core.deliver(core.table.require(self.pid, pid, "Kill", "control"), signal);
  },
};
