/** GetProcGroup(group): its members, by rising pid, as far as the caller sees them; its maker sees all. */
import { type Pgid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { groupNotFound } from "../ipc/groups.ts";

export const getProcGroup: Call<{ group: Pgid | string }, Pid[]> = {
  name: "GetProcGroup",
  args: ({ group }) => ({ group }),
  result: (pids) => pids.length,
  run(core, self, { group }) {
    const { maker, pids } = core.groups.find(group);
    if (self.pid === PID_KERNEL || self.pid === maker) return [...pids];
    const seen = pids.filter((pid) => core.table.looksInto(self.pid, pid));
    if (seen.length === 0) throw groupNotFound(group);
    return seen;
  },
};
