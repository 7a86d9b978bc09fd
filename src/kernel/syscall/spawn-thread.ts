import type { Tid } from "../../abi/ids.ts";
import type { Call } from "./call.ts";

export const spawnThread: Call<{ intent: string; maxTurns: number }, Tid> = {
  name: "SpawnThread",
  holds: true,
  args: ({ intent }) => ({ intent }),
  run() {
    throw new Error("to be written");
  },
};
