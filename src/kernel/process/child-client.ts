/** What the OS children of a process may do as clients of the daemon. */
import { asPid, PID_KERNEL } from "../../abi/ids.ts";
import type { ProcInfo } from "../../abi/process.ts";
import type { Syscalls } from "../../abi/sys.ts";
import type { ChildClient } from "../ports/kernel-api.ts";
import type { Process } from "./process.ts";
import type { ProcessTable } from "./table.ts";

interface Clients {
  readonly table: Pick<ProcessTable, "all" | "get" | "looksInto" | "controls">;
  info(proc: Process): ProcInfo;
  handle(self: Process, scope: null): Syscalls;
}

/** undefined: the process has ended or never existed. */
export function childClient(core: Clients, uuid: string): ChildClient | undefined {
  const proc = [...core.table.all()].find(({ seed }) => seed.uuid === uuid);
  if (proc === undefined || proc.life.isClosed) return undefined;
  const { pid } = proc;
  return {
    pid,
    uuid: proc.seed.uuid,
    line: lineOf(core, proc),
    isPersons: isPersons(core, proc),
    list: () =>
      [...core.table.all()]
        .filter((each) => core.table.looksInto(pid, each.pid))
        .map((each) => core.info(each)),
    sees: (other) => core.table.get(asPid(other)) !== undefined && core.table.looksInto(pid, asPid(other)),
    controls: (other) => core.table.get(asPid(other)) !== undefined && core.table.controls(pid, asPid(other)),
    // an agent is replayed from its own calls, so no OS child may act in its name
    sys: proc.seed.kind === "native" ? core.handle(proc, null) : null,
  };
}

function lineOf(core: Pick<Clients, "table">, proc: Process): string {
  let top = proc;
  for (
    let at: Process | undefined = proc;
    at !== undefined && at.pid !== PID_KERNEL;
    at = core.table.get(at.ppid)
  )
    top = at;
  return top.seed.uuid;
}

/**
 * Whether the user started the process and all its ancestors, without an agent between. A process whose parent was
 * reaped is a child of the kernel too; it counts as the user's only if its session began with it.
 */
function isPersons(core: Pick<Clients, "table">, proc: Process): boolean {
  for (let at: Process | undefined = proc; at !== undefined; at = core.table.get(at.ppid)) {
    const { kind, session, uuid } = at.seed;
    if (kind !== "native" && kind !== "supervisor") return false;
    if (at.ppid === PID_KERNEL) return session.owner?.proc === uuid;
  }
  return false;
}
