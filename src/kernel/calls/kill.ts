/** Kill(pid, signal): on a zombie or dead process a no-op. */
import type { Pid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import type { Call } from "../gate/call.ts";
import { sendSignal } from "./signal.ts";

export const kill: Call<{ pid: Pid; signal: Signal }, void> = {
  name: "Kill",
  holds: true,
  args: ({ pid, signal }) => ({ pid, signal }),
  async run(core, self, { pid, signal }) {
    await sendSignal(core, self, "Kill", pid, signal);
  },
};
