/**
 * Teams: a lead, the members that it has started, and the group in which they know one another. Which team a process leads
 * is a value that it keeps; which one it is a member of was recorded with its spawn.
 */
import { agentIdOf, type ChildMark, TEAM, type Team } from "../../abi/child.ts";
import { SyscallError } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Groups } from "../ipc/groups.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { keptOf } from "./kept-values.ts";
import type { Process } from "./process.ts";
import { type Notifying, notify } from "./signal/notify.ts";
import type { ProcessTable } from "./table.ts";
import { scratchpadOf } from "./tree/scratchpad.ts";
import { worktreeFacet } from "./tree/worktree.ts";

interface Joining {
  readonly groups: Pick<Groups, "of" | "recordOf">;
  readonly table: Pick<ProcessTable, "childrenOf">;
}

/**
 * Whether this child may begin. PERMISSION: a member starts only agents that it waits for. NOT_FOUND: the caller leads no such
 * team. CONFLICT: a live member has that name.
 */
export function checkMember({ groups, table }: Joining, caller: Process, child: ChildMark | undefined): void {
  if (child === undefined) return;
  const { pid, seed } = caller;
  const refuse = (code: "PERMISSION" | "NOT_FOUND" | "CONFLICT", message: string): never => {
    throw new SyscallError({ syscall: "Spawn", pid, code, message });
  };
  if (seed.child?.team !== undefined && (child.name !== undefined || child.isBackground === true))
    refuse("PERMISSION", "a member of a team starts agents that it waits for, without names: ask the lead");
  const { team, name } = child;
  if (team === undefined) return;
  const isOwn = [...groups.of(caller)].some((id) => {
    const group = groups.recordOf(id);
    return group.name === team && group.maker === pid;
  });
  if (!isOwn) refuse("NOT_FOUND", `no team ${team} is led by process ${pid}`);
  const other = table
    .childrenOf(pid)
    .find(({ isLive, seed: { child: its } }) => isLive && its?.team === team && its.name === name);
  if (other !== undefined)
    refuse("CONFLICT", `team ${team} has a member ${name} already: process ${other.pid}`);
}

interface Looking {
  readonly table: Pick<ProcessTable, "get" | "childrenOf">;
}

/** A team as it is now. */
interface TeamNow {
  readonly name: string;
  readonly lead: Process;
  readonly members: readonly Process[];
}

/** The team that a process leads or is a member of; null: none. */
export function teamOf({ table }: Looking, proc: Process): TeamNow | null {
  const lead = proc.seed.child?.team === undefined ? proc : table.get(proc.ppid);
  if (lead === undefined) return null;
  const name = proc.seed.child?.team ?? ledBy(lead)?.name;
  if (name === undefined) return null;
  const members = table
    .childrenOf(lead.pid)
    .filter(({ isLive, seed }) => isLive && seed.child?.team === name);
  return { name, lead, members };
}

function ledBy(lead: Process): Team | undefined {
  return keptOf(lead).get(TEAM) as Team | undefined;
}

/** The configuration that `/var/teams` shows, as published; null: the process is in no team. */
export function teamConfig(
  core: Looking & { readonly ports: Pick<KernelPorts, "scratchpads"> },
  pid: Pid,
): { readonly name: string; readonly config: object } | null {
  const proc = core.table.get(pid);
  const team = proc === undefined ? null : teamOf(core, proc);
  if (team === null) return null;
  const { name, lead, members } = team;
  const scratchpad = scratchpadOf(core.ports, lead);
  const { description = "", createdAt = 0 } = ledBy(lead) ?? {};
  const config = {
    name,
    ...(description === "" ? {} : { description }),
    leadAgentId: agentIdOf(lead.seed.uuid),
    createdAt: new Date(createdAt).toISOString(),
    ...(scratchpad === null ? {} : { scratchpad }),
    members: members.map(memberView),
  };
  return { name, config };
}

function memberView(member: Process): object {
  const { seed, model, facts } = member;
  const path = facts.of(worktreeFacet)?.path;
  return {
    agentId: agentIdOf(seed.uuid),
    name: seed.child?.name ?? "",
    agentType: seed.body.name,
    model: model.known,
    planModeRequired: seed.child?.plansFirst === true,
    ...(path === undefined ? {} : { worktreePath: path }),
    joinedAt: seed.createdAt.toISOString(),
  };
}

/** How often a member that works is looked at, and after how many looks without a step its lead is told. */
const LOOK_MS = 60_000;
const STALL_LOOKS = 10;

type Watching = Notifying & { readonly ports: Pick<KernelPorts, "clock">; readonly table: Looking["table"] };

/** Tells the lead, once until the next step, of a member that works and makes none. Ends with the run of the member. */
export async function watchSteps(core: Watching, proc: Process): Promise<void> {
  const { child } = proc.seed;
  if (child?.team === undefined) return;
  let [seen, looks] = [proc.steps, 0];
  for (;;) {
    await core.ports.clock.sleep(LOOK_MS, proc.abort.signal);
    const isStill = proc.work.isWorking && proc.life.activity !== "waiting" && proc.steps === seen;
    looks = isStill ? looks + 1 : 0;
    seen = proc.steps;
    const lead = core.table.get(proc.ppid);
    if (looks !== STALL_LOOKS || lead === undefined) continue;
    const minutes = (LOOK_MS * STALL_LOOKS) / 60_000;
    const text = `${child.name ?? ""} (pid ${proc.pid}) of team ${child.team} works and has made no step for ${minutes} minutes.`;
    await notify(core, lead, `${text} job_output shows what it said last, stop ends it.`);
  }
}
