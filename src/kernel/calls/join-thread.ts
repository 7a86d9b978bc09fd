/** JoinThread(tid): how a thread ended. Its failure is data; giving up leaves it alone. */
import type { Tid } from "../../abi/ids.ts";
import type { Call } from "../gate/call.ts";
import { threadsOf } from "../process/threads.ts";

export const joinThread: Call<{ tid: Tid }, { result: string; err?: Error }> = {
  name: "JoinThread",
  args: ({ tid }) => ({ tid }),
  run: (_core, self, { tid }, pass) => threadsOf(self).join(tid, pass.signal),
};
