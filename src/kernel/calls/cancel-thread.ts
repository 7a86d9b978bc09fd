/** CancelThread(tid): idempotent; its end is for JoinThread to tell. */
import type { Tid } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { threadsOf } from "../process/threads.ts";

export const cancelThread: Call<{ tid: Tid }, void> = {
  name: "CancelThread",
  args: ({ tid }) => ({ tid }),
  run: (_core, self, { tid }) => threadsOf(self).cancel(tid),
};
