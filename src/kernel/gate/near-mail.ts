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
 * undefined: a process that the caller does not see.
 */
export function namesNear(core: Neighbourhood, self: Process, to: string): readonly string[] | undefined {
  const meant = meantBy(core, self, to);
  const seen = meant.filter(({ pid }) => core.table.looksInto(self.pid, pid));
  if (meant.length > 0 && seen.length === 0) return undefined;
  return [...new Set(seen.flatMap(namesOf))].filter((name) => name !== to);
}

/** Whether `to`, a name that only one process ever has, is that of an ancestor. */
export function isForAbove(core: Neighbourhood, self: Process, to: string): boolean {
  const isLasting = findPid(to) !== undefined || to === "main" || to.startsWith("agent-");
  const [found, ...others] = isLasting ? meantBy(core, self, to) : [];
  return found !== undefined && others.length === 0 && core.table.isAncestor(found.pid, self.pid);
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
  if (to === "main") return top({ table }, self);
  const members =
    to === "*" ? [...groups.of(self)].flatMap((id) => groups.find(id).pids) : inGroup(groups, to);
  const called = [...table.all()].filter(
    ({ seed }) => seed.child?.name === to || agentIdOf(seed.uuid) === to,
  );
  return [...members.flatMap(at), ...called];
}

function top({ table }: Pick<Neighbourhood, "table">, self: Process): readonly Process[] {
  let highest = self;
  for (let at = table.get(self.ppid); at !== undefined && at.pid !== PID_KERNEL; at = table.get(at.ppid))
    highest = at;
  return highest === self ? [] : [highest];
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
