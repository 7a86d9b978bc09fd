import type { CtxId, Pid } from "../../abi/ids.ts";
import type { Member } from "../../abi/member.ts";
import type { ProcInfo } from "../../abi/process.ts";
import type { Call } from "../gate/call.ts";

/** The parts of the kernel that the list uses. */
interface Shown {
  readonly ports: { readonly clock: { mono(): number } };
  readonly table: { all(): Iterable<Listed>; looksInto(viewer: Pid, pid: Pid): boolean };
  readonly projects: {
    memberOf(proc: Standing): Member | undefined;
    fellowsOf(proc: Standing): readonly Member[];
  };
}

interface Listed {
  readonly pid: Pid;
  info(nowMono: number): ProcInfo;
}

/** The position of the viewer in the process tree. */
interface Standing {
  readonly pid: Pid;
  readonly ppid: Pid;
}

/**
 * ListProcs(): copies of what the caller sees, by rising pid. Fellow members of a compose project are shown without
 * details.
 */
export const listProcs: Call<"listProcs", Record<never, never>, Shown, Standing> = {
  name: "ListProcs",
  take: () => ({}),
  args: () => ({}),
  result: (procs) => procs.length,
  run({ core, self }) {
    const now = core.ports.clock.mono();
    const own = core.projects.memberOf(self);
    const fellows = core.projects.fellowsOf(self);
    const members = new Map(
      [...(own === undefined ? [] : [own]), ...fellows].map((each) => [each.pid, each]),
    );
    const seen: ProcInfo[] = [];
    for (const proc of core.table.all()) {
      const member = members.get(proc.pid);
      const more = member === undefined ? {} : { member };
      if (core.table.looksInto(self.pid, proc.pid)) seen.push({ ...proc.info(now), ...more });
      else if (member !== undefined) seen.push(fellowInfo(proc.info(now), member));
    }
    // a restored process comes after newer ones in the table
    return seen.sort((a, b) => a.pid - b.pid);
  },
};

/** Fellow members may not see each other's work: intent, devices, model, result. */
function fellowInfo(
  { pid, ppid, kind, state, createdAt, elapsedMs, name }: ProcInfo,
  member: Member,
): ProcInfo {
  return {
    pid,
    ppid,
    kind,
    state,
    createdAt,
    elapsedMs,
    name,
    member,
    activity: null,
    intent: "",
    skills: [],
    tokensUsed: 0,
    ctxId: 0 as CtxId,
    result: "",
    allowedDevices: [],
    exit: null,
    groups: [],
    threads: 0,
    coroutines: 0,
    model: "",
  };
}
