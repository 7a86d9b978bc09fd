/** ListThreads(): those that run, and those that have ended and were not joined, by rising tid. */
import type { ThreadView } from "../../abi/sys.ts";
import type { Call } from "../gate/call.ts";

export const listThreads: Call<Record<string, never>, ThreadView[]> = {
  name: "ListThreads",
  args: () => ({}),
  run: (_core, self) => self.threads?.list() ?? [],
};
