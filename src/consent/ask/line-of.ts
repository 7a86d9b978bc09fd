/** Who asks, as a person is shown it. */
import { PID_KERNEL } from "../../abi/ids.ts";
import type { Core } from "../../kernel/core.ts";
import type { Process } from "../../kernel/process/process.ts";

/** `main-1 › worker-2`. */
export function lineOf(core: Core, self: Process): string {
  const names: string[] = [];
  for (let proc: Process | undefined = self; proc !== undefined && proc.pid !== PID_KERNEL; ) {
    names.unshift(`${proc.seed.body.name || proc.seed.kind}-${proc.pid}`);
    proc = core.table.get(proc.ppid);
  }
  return names.join(" › ");
}
