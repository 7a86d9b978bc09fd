/** Names the asking process for the user. */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";

/** The fields needed of each process, up to the root. */
interface Named {
  readonly pid: Pid;
  readonly ppid: Pid;
  readonly seed: { readonly kind: string; readonly body: { readonly name: string } };
}

interface Family {
  readonly table: { get(pid: Pid): Named | undefined };
}

/** The process and its ancestors, such as `main-1 › worker-2`. */
export function lineOf({ table }: Family, self: Named): string {
  const names: string[] = [];
  for (let proc: Named | undefined = self; proc !== undefined && proc.pid !== PID_KERNEL; ) {
    names.unshift(`${proc.seed.body.name || proc.seed.kind}-${proc.pid}`);
    proc = table.get(proc.ppid);
  }
  return names.join(" › ");
}
