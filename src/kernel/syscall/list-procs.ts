/** ListProcs(): copies of what the caller sees, by rising pid. */
import type { ProcInfo } from "../../abi/process.ts";
import type { Call } from "./call.ts";

export const listProcs: Call<Record<never, never>, ProcInfo[]> = {
  name: "ListProcs",
  args: () => ({}),
  result: (procs) => procs.length,
  run(core, self) {
    const now = core.ports.clock.mono();
    const seen: ProcInfo[] = [];
    for (const proc of core.table.all()) if (core.table.sees(self.pid, proc.pid)) seen.push(proc.info(now));
    // one that came back stands behind those that came after it
    return seen.sort((a, b) => a.pid - b.pid);
  },
};
