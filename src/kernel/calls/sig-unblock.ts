/** SigUnblock(pid, signal): what was pending is delivered, its handlers run, before the call returns. */
import type { Pid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import { abortable } from "../../lib/abort.ts";
import type { Call } from "../gate/call.ts";
import { unblock } from "../ipc/deliver.ts";
import { checkMaskable } from "./check-signal.ts";

export const sigUnblock: Call<{ pid: Pid; signal: Signal }, void> = {
  name: "SigUnblock",
  args: ({ pid, signal }) => ({ pid, signal }),
  async run(core, self, { pid, signal }, pass) {
    checkMaskable(signal, pass.scope);
    const proc = core.table.require(self.pid, pid, "SigUnblock", "control");
    const heeded = unblock(core, proc, signal);
    // what was delivered may have ended the caller: its work is done then
    if (!pass.signal.aborted) await abortable(heeded, pass.signal);
  },
};
