/** What the OS children of a process may, as clients of the daemon. */
import { asPid, PID_KERNEL } from "../../abi/ids.ts";
import type { Core } from "../core.ts";
import type { ChildClient } from "../ports/kernel-api.ts";
import type { Process } from "./process.ts";

/** undefined: it has ended, or never was. */
export function childClient(core: Core, uuid: string): ChildClient | undefined {
  const proc = [...core.table.all()].find(({ seed }) => seed.uuid === uuid);
  if (proc === undefined || proc.life.isClosed) return undefined;
  const { pid } = proc;
  return {
    pid,
    line: lineOf(core, proc),
    isPersons: isPersons(core, proc),
    list: () => {
      const now = core.ports.clock.mono();
      return [...core.table.all()]
        .filter((each) => core.table.looksInto(pid, each.pid))
        .map((each) => each.info(now));
    },
    sees: (other) => core.table.get(asPid(other)) !== undefined && core.table.looksInto(pid, asPid(other)),
    // what an agent does is replayed from its own calls: nothing else acts in its name
    sys: proc.seed.kind === "native" ? core.handle(proc, null) : null,
  };
}

function lineOf(core: Core, proc: Process): string {
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
 * A program, and all above it, started by a person. One whose parent is gone hangs below the kernel; it is a person's only where
 * its session began with it.
 */
function isPersons(core: Core, proc: Process): boolean {
  for (let at: Process | undefined = proc; at !== undefined; at = core.table.get(at.ppid)) {
    const { kind, session, uuid } = at.seed;
    if (kind !== "native" && kind !== "supervisor") return false;
    if (at.ppid === PID_KERNEL) return session.owner?.proc === uuid;
  }
  return false;
}
