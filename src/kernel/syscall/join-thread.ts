import type { Tid } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const joinThread: Call<{ tid: Tid }, { result: string; err?: Error }> = {
  name: "JoinThread",
  args: ({ tid }) => ({ tid }),
  run() {
    throw new Error("to be written");
  },
};
