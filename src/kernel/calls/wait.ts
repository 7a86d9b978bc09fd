/** Wait(pid): the exit status of a process, once it has ended; reaps it. Giving up leaves the process alone. */
import type { Pid } from "../../abi/ids.ts";
import type { ExitStatus } from "../../abi/process.ts";
import { abortable } from "../../lib/abort.ts";
import type { Call } from "../gate/call.ts";
import { addLabels } from "../labels/labels.ts";
import { reapProcess } from "../process/reap.ts";

export const wait: Call<{ pid: Pid }, ExitStatus> = {
  name: "Wait",
  args: ({ pid }) => ({ pid }),
  result: (exit) => exit.code,
  async run(core, self, { pid }, pass) {
    const proc = core.table.require(self.pid, pid, "Wait", "control");
    const exit = await abortable(proc.done.promise, pass.signal);
    // its result goes to who waits for it
    addLabels(core, self, proc.labels);
    await abortable(reapProcess(core, proc), pass.signal);
    return exit;
  },
};
