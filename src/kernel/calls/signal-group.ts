/** SignalGroup(group, signal): to who is a member now; the number of those that were alive. */
import { Fault, printed } from "../../abi/errors.ts";
import { type Pgid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import type { Core } from "../core.ts";
import type { Call } from "../gate/call.ts";
import { recorded } from "../ipc/deliver.ts";
import type { Process } from "../process/process.ts";
import { checkSignal } from "./check-signal.ts";
import { checkKept } from "./signal.ts";

export const signalGroup: Call<{ group: Pgid | string; signal: Signal }, number> = {
  name: "SignalGroup",
  holds: true,
  args: ({ group, signal }) => ({ group, signal }),
  result: (reached) => reached,
  async run(core, self, { group, signal }) {
    checkSignal(signal);
    checkKept(core, self, "SignalGroup", signal);
    const told = await Promise.all(targets(core, self, group).map((proc) => reach(core, proc, signal)));
    const reached = told.filter((isReached) => isReached).length;
    if (reached > 0) await recorded(core);
    return reached;
  },
};

function targets(core: Core, self: Process, group: Pgid | string): readonly Process[] {
  const { maker, pids } = core.groups.find(group);
  if (self.pid !== PID_KERNEL && self.pid !== maker) {
    const message = `group ${group}: only its maker and the user may signal it`;
    throw new Fault({ code: "PERMISSION", message });
  }
  return pids.flatMap((pid: Pid) => core.table.get(pid) ?? []);
}

async function reach(core: Core, proc: Process, signal: Signal): Promise<boolean> {
  if (!proc.isLive) return false;
  try {
    await core.deliver(proc, signal);
    return true;
  } catch (error) {
    core.ports.log("error", `pid ${proc.pid}: a signal to its group: ${printed(error)}`);
    return false;
  }
}
