import type { Pgid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import type { Call } from "./call.ts";

export const signalGroup: Call<{ group: Pgid | string; signal: Signal }, number> = {
  name: "SignalGroup",
  args: ({ group, signal }) => ({ group, signal }),
  run() {
    throw new Error("to be written");
  },
};
