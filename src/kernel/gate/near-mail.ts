/**
 * Who a message may be for, beside members of a compose project: processes of the caller's own tree and of its groups, the
 * only others that it sees. The gate finds all their names, so that a rule on any of them holds.
 */
import { agentIdOf } from "../../abi/child.ts";
import { codeOf } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { findPid } from "../../abi/member.ts";
import type { Groups } from "../ipc/groups.ts";
import type { Process } from "../process/process.ts";
import type { ProcessTable } from "../process/table.ts";

/** Finds the receivers of a message. */
export interface Neighbourhood {
  readonly table: Pick<ProcessTable, "all" | "get" | "isAncestor" | "looksInto">;
  readonly groups: Pick<Groups, "find" | "of">;
}

/**
 * All names of those whom `to` may mean. Empty: no live process, but perhaps an agent below the caller that has ended.
 * "stranger": a live one that takes no message of the caller. A pid, an agentId and a name of the caller's own session say so
 * much; a name that somebody bears in another session is nobody's here.
 */
export function namesNear(core: Neighbourhood, self: Process, to: string): readonly string[] | "stranger" {
  const meant = meantBy(core, self, to);
  const seen = meant.filter(({ pid }) => core.table.looksInto(self.pid, pid));
  const isKnown = (each: Process): boolean => isLasting(to) || topOf(core, each) === topOf(core, self);
  if (seen.length === 0 && meant.some((each) => each.isLive && isKnown(each))) return "stranger";
  return [...new Set(seen.flatMap(namesOf))].filter((name) => name !== to);
}

/** Whether `to`, a name that only one process ever has, is that of an ancestor. */
export function isForAbove(core: Neighbourhood, self: Process, to: string): boolean {
  const [found, ...others] = isLasting(to) || to === "main" ? meantBy(core, self, to) : [];
  return found !== undefined && others.length === 0 && core.table.isAncestor(found.pid, self.pid);
}

function isLasting(to: string): boolean {
  return findPid(to) !== undefined || to.startsWith("agent-");
}

function namesOf({ pid, seed }: Process): readonly string[] {
  const { name } = seed.child ?? {};
  return [String(pid), agentIdOf(seed.uuid), ...(name === undefined ? [] : [name])];
}

function meantBy({ table, groups }: Neighbourhood, self: Process, to: string): readonly Process[] {
  const at = (pid: Pid): readonly Process[] => {
    const found = table.get(pid);
    return found === undefined ? [] : [found];
  };
  const pid = findPid(to);
  if (pid !== undefined) return at(pid as Pid);
  if (to === "main") return [topOf({ table }, self)].filter((top) => top !== self);
  const members =
    to === "*" ? [...groups.of(self)].flatMap((id) => groups.find(id).pids) : inGroup(groups, to);
  const called = [...table.all()].filter(
    ({ seed }) => seed.child?.name === to || agentIdOf(seed.uuid) === to,
  );
  return [...members.flatMap(at), ...called];
}

/** The agent that the user has started, above the process or itself. */
function topOf({ table }: Pick<Neighbourhood, "table">, proc: Process): Process {
  let highest = proc;
  for (let at = table.get(proc.ppid); at !== undefined && at.pid !== PID_KERNEL; at = table.get(at.ppid))
    highest = at;
  return highest;
}

function inGroup(groups: Neighbourhood["groups"], name: string): readonly Pid[] {
  try {
    return groups.find(name).pids;
  } catch (error) {
    const code = codeOf(error);
    if (code !== "NOT_FOUND" && code !== "INVALID") throw error;
    return [];
  }
}
