import type { Signal, SignalAction } from "../../abi/process.ts";
import type { Call } from "./call.ts";

export const sigHandle: Call<{ signal: Signal; action: SignalAction }, void> = {
  name: "SigHandle",
  args: ({ signal }) => ({ signal }),
  run() {
    throw new Error("to be written");
  },
};
