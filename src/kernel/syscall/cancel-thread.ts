import type { Tid } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const cancelThread: Call<{ tid: Tid }, void> = {
  name: "CancelThread",
  args: ({ tid }) => ({ tid }),
  run() {
    throw new Error("to be written");
  },
};
