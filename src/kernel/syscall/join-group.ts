import type { Pgid, Pid } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const joinGroup: Call<{ pid: Pid; group: Pgid | string }, Pgid> = {
  name: "JoinGroup",
  args: ({ group, pid }) => ({ group, pid }),
  run() {
    throw new Error("to be written");
  },
};
