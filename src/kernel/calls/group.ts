/** The calls of process groups. The rules of membership are in ipc/groups.ts. */

import { Fault, printed } from "../../abi/errors.ts";
import { type Pgid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Signal } from "../../abi/process.ts";
import type { KernelCall } from "../gate/gate.ts";
import type { KernelPass } from "../gate/passage.ts";
import { type Groups, groupNotFound } from "../ipc/groups.ts";
import type { JournalHold } from "../ports/journal-hold.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "../process/process.ts";
import { checkKept, recorded, type SignalKeeping } from "../process/signal/deliver.ts";
import type { ProcessTable } from "../process/table.ts";
import { checkSignal } from "./signal.ts";

/** The parts of the kernel that these calls use. */
type Grouping = SignalKeeping & {
  readonly ports: Pick<KernelPorts, "log">;
  readonly table: ProcessTable;
  readonly groups: Groups;
  readonly journalWatch: Pick<JournalHold<never>, "check">;
  note(proc: Process, kind: "group.join" | "group.leave", body: unknown): void;
  deliver(proc: Process, signal: Signal): Promise<unknown>;
};

/** JoinGroup(group, pid): members see each other and may send to each other. Idempotent. */
const joinGroup: KernelCall<"joinGroup", { pid: Pid; group: Pgid | string }, Grouping> = {
  name: "JoinGroup",
  holds: true,
  take: (pid, group) => ({ pid, group }),
  args: ({ group, pid }) => ({ group, pid }),
  result: (pgid) => pgid,
  async run(pass, { pid, group }) {
    const { core, self } = pass;
    checkTaken(pass, "JoinGroup");
    const proc = core.table.require(self.pid, pid, "JoinGroup", "control");
    const before = core.groups.of(proc).size;
    const pgid = core.groups.join(proc, group, self.pid);
    if (core.groups.of(proc).size > before) core.note(proc, "group.join", core.groups.recordOf(pgid));
    await durable(pass);
    return pgid;
  },
};

/** LeaveGroup(group, pid): the last one to leave removes the group. */
const leaveGroup: KernelCall<"leaveGroup", { pid: Pid; group: Pgid | string }, Grouping> = {
  name: "LeaveGroup",
  take: (pid, group) => ({ pid, group }),
  args: ({ group, pid }) => ({ group, pid }),
  async run(pass, { pid, group }) {
    const { core, self } = pass;
    checkTaken(pass, "LeaveGroup");
    const proc = core.table.require(self.pid, pid, "LeaveGroup", "control");
    const pgid = core.groups.leave(proc, group);
    core.note(proc, "group.leave", { group: pgid });
    await durable(pass);
  },
};

/** Clients get an answer only once it is recorded. A process does not wait: a crash loses the change and the answer. */
function checkTaken({ core, self }: KernelPass<Grouping>, syscall: string): void {
  if (self.pid === PID_KERNEL) core.journalWatch.check(syscall);
}

async function durable({ core, self }: KernelPass<Grouping>): Promise<void> {
  if (self.pid === PID_KERNEL) await core.ports.journal.sync();
}

/** GetProcGroup(group): the members that the caller sees, by rising pid; its maker sees all. */
const getProcGroup: KernelCall<"getProcGroup", { group: Pgid | string }, Grouping> = {
  name: "GetProcGroup",
  take: (group) => ({ group }),
  args: ({ group }) => ({ group }),
  result: (pids) => pids.length,
  run({ core, self }, { group }) {
    const { maker, pids } = core.groups.find(group);
    if (self.pid === PID_KERNEL || self.pid === maker) return [...pids];
    const seen = pids.filter((pid) => core.table.looksInto(self.pid, pid));
    if (seen.length === 0) throw groupNotFound(group);
    return seen;
  },
};

/** SignalGroup(group, signal): signals the current members; returns the number of those that were alive. */
const signalGroup: KernelCall<"signalGroup", { group: Pgid | string; signal: Signal }, Grouping> = {
  name: "SignalGroup",
  holds: true,
  take: (group, signal) => ({ group, signal }),
  args: ({ group, signal }) => ({ group, signal }),
  result: (reached) => reached,
  async run(pass, { group, signal }) {
    const { core } = pass;
    checkSignal(signal);
    checkKept(pass, "SignalGroup", signal);
    const told = await Promise.all(targets(pass, group).map((proc) => reach(pass, proc, signal)));
    const reached = told.filter((isReached) => isReached).length;
    if (reached > 0) await recorded(core);
    return reached;
  },
};

function targets({ core, self }: KernelPass<Grouping>, group: Pgid | string): readonly Process[] {
  const { maker, pids } = core.groups.find(group);
  if (self.pid !== PID_KERNEL && self.pid !== maker) {
    const message = `group ${group}: only its maker and the user may signal it`;
    throw new Fault({ code: "PERMISSION", message });
  }
  return pids.flatMap((pid: Pid) => core.table.get(pid) ?? []);
}

async function reach({ core }: KernelPass<Grouping>, proc: Process, signal: Signal): Promise<boolean> {
  if (!proc.isLive) return false;
  try {
    await core.deliver(proc, signal);
    return true;
  } catch (error) {
    core.ports.log("error", `pid ${proc.pid}: a signal to its group: ${printed(error)}`);
    return false;
  }
}

export const groupCalls = { joinGroup, leaveGroup, getProcGroup, signalGroup };
