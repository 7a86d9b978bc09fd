/** The task list of a process: given by its environment, else its team, its group, those of its leader, or its session. */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { TaskPlace } from "../../abi/task.ts";
import type { Groups } from "../ipc/groups.ts";
import type { Process } from "./process.ts";
import type { ProcessTable } from "./table.ts";
import { teamOf } from "./team.ts";

interface Places {
  readonly root: Process;
  readonly table: Pick<ProcessTable, "get" | "childrenOf">;
  readonly groups: Pick<Groups, "of" | "recordOf">;
}

/** null: the process no longer exists. The leader is the process that the user started; it is its own leader, too. */
export function taskPlaceOf(core: Places, pid: Pid): TaskPlace | null {
  const proc = pid === PID_KERNEL ? core.root : core.table.get(pid);
  if (proc === undefined) return null;
  const { env, session, uuid } = proc.seed;
  const leader = session.owner === null ? undefined : core.table.get(session.owner.pid);
  const team = teamOf(core, proc);
  const list =
    given(env.CRUX_TASK_LIST_ID) ??
    team?.name ??
    groupOf(core, proc) ??
    given(env.CRUX_TEAM_NAME) ??
    (leader === undefined ? undefined : (teamOf(core, leader)?.name ?? groupOf(core, leader))) ??
    session.owner?.proc ??
    uuid;
  const members = team?.members.map(({ pid: member, seed: { child }, life }) => {
    return { pid: member, name: child?.name ?? "", isIdle: life.activity === "idle" };
  });
  return { list, leader: session.owner?.pid ?? null, ...(members === undefined ? {} : { members }) };
}

function given(name: string | undefined): string | undefined {
  return name === undefined || name === "" ? undefined : name;
}

/** The oldest of its groups; dots in its name are replaced, as the name of a list cannot contain them. */
function groupOf({ groups }: Pick<Places, "groups">, proc: Process): string | undefined {
  const [oldest] = [...groups.of(proc)].sort((a, b) => a - b);
  if (oldest === undefined) return undefined;
  const { name } = groups.recordOf(oldest);
  return name === "" ? `group-${oldest}` : name.replaceAll(".", "_");
}
