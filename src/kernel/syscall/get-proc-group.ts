import type { Pgid, Pid } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const getProcGroup: Call<{ group: Pgid | string }, Pid[]> = {
  name: "GetProcGroup",
  args: ({ group }) => ({ group }),
  run() {
    throw new Error("to be written");
  },
};
