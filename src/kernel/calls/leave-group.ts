/** LeaveGroup(group, pid): the last one to leave removes the group. */
import type { Pgid, Pid } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";

export const leaveGroup: Call<{ pid: Pid; group: Pgid | string }, void> = {
  name: "LeaveGroup",
  args: ({ group, pid }) => ({ group, pid }),
  run(core, self, { pid, group }) {
    const proc = core.table.require(self.pid, pid, "LeaveGroup", "control");
    const pgid = core.groups.leave(proc, group);
    core.note(proc, "group.leave", { group: pgid });
  },
};
