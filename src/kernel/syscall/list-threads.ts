import type { ThreadView } from "../../abi/sys.ts";
import type { Call } from "./call.ts";

export const listThreads: Call<Record<string, never>, ThreadView[]> = {
  name: "ListThreads",
  args: () => ({}),
  run() {
    throw new Error("to be written");
  },
};
