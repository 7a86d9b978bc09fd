import type { Pgid, Pid } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const leaveGroup: Call<{ pid: Pid; group: Pgid | string }, void> = {
  name: "LeaveGroup",
  args: ({ group, pid }) => ({ group, pid }),
  run() {
    throw new Error("to be written");
  },
};
