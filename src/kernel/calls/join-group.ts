/** JoinGroup(group, pid): members see each other and may send to each other. Idempotent. */
import type { Pgid, Pid } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";

export const joinGroup: Call<{ pid: Pid; group: Pgid | string }, Pgid> = {
  name: "JoinGroup",
  holds: true,
  args: ({ group, pid }) => ({ group, pid }),
  result: (pgid) => pgid,
  run(core, self, { pid, group }) {
    const proc = core.table.require(self.pid, pid, "JoinGroup", "control");
    const before = proc.groups.size;
    const pgid = core.groups.join(proc, group, self.pid);
    if (proc.groups.size > before) core.note(proc, "group.join", core.groups.recordOf(pgid));
    return pgid;
  },
};
