import type { Pid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import type { Call } from "./call.ts";

export const sigBlock: Call<{ pid: Pid; signal: Signal }, void> = {
  name: "SigBlock",
  args: ({ pid, signal }) => ({ pid, signal }),
  run() {
    throw new Error("to be written");
  },
};
