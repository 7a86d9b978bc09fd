/** What the OS children of a process may do as clients of the daemon. */
import { asPid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { ProcInfo } from "../../abi/process.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { type EndSearch, endOf } from "../facts/ended.ts";
import { addLabels, type LabelKeeper } from "../labels/labelled.ts";
import type { ChildClient } from "../ports/kernel-api.ts";
import type { Process } from "./process.ts";
import type { ProcessTable } from "./table.ts";

/** Ended processes whose labels a client keeps at hand; beyond, they are looked up again. */
const MAX_ENDS = 1_000;

interface Clients extends EndSearch, LabelKeeper {
  readonly table: Pick<ProcessTable, "all" | "get" | "looksInto" | "controls" | "isAncestor">;
  info(proc: Process): ProcInfo;
  handle(self: Process, scope: null): Syscalls;
}

/** undefined: the process has ended or never existed. */
export function childClient(core: Clients, uuid: string): ChildClient | undefined {
  const proc = [...core.table.all()].find(({ seed }) => seed.uuid === uuid);
  if (proc === undefined || proc.life.isClosed) return undefined;
  const { pid } = proc;
  const ends = new Ends(core);
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
    hears: (other) => hear(core, { self: proc, ends }, asPid(other)),
    // an agent is replayed from its own calls, so no OS child may act in its name
    sys: proc.seed.kind === "native" ? core.handle(proc, null) : null,
  };
}

/** What is held already counts at once, before anything is waited for. */
async function hear(core: Clients, { self, ends }: { self: Process; ends: Ends }, other: Pid): Promise<void> {
  const said = core.table.get(other);
  if (said === undefined) return addLabels(core, self, await ends.labels(other));
  const all: Process[] = [];
  const above = (proc: Process) =>
    core.table.isAncestor(self.pid, proc.pid) ? core.table.get(proc.ppid) : undefined;
  for (let at: Process | undefined = said; at !== undefined && at !== self; at = above(at)) all.push(at);
  for (const each of all) addLabels(core, self, each.labels);
  for (const each of all) {
    await each.past.recall();
    addLabels(core, self, each.labels);
  }
}

/** The labels of processes that have left the table, which grow no more. */
class Ends {
  readonly #core: EndSearch;
  readonly #known = new Map<Pid, readonly Label[]>();

  constructor(core: EndSearch) {
    this.#core = core;
  }

  async labels(pid: Pid): Promise<readonly Label[]> {
    const known = this.#known.get(pid);
    if (known !== undefined) return known;
    const { labels = [] } = (await endOf(this.#core, pid)) ?? {};
    if (this.#known.size >= MAX_ENDS) this.#known.clear();
    this.#known.set(pid, labels);
    return labels;
  }
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
