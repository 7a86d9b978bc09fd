/** The call that lists processes, by what the caller sees of each. */
import { asPid, type CtxId, type Pid } from "../../abi/ids.ts";
import type { Member } from "../../abi/member.ts";
import type { ProcInfo } from "../../abi/process.ts";
import type { ProcPage } from "../../abi/sys.ts";
import type { Call } from "../gate/call.ts";

/** The parts of the kernel that the list uses. */
interface Shown {
  readonly table: {
    all(): Iterable<Standing>;
    get(pid: Pid): Standing | undefined;
    looksInto(viewer: Pid, pid: Pid): boolean;
  };
  info(proc: Standing): ProcInfo;
  readonly scheduler: { view(lane: string): readonly { readonly waiting: readonly Waiting[] }[] };
  readonly projects: {
    memberOf(proc: Standing): Member | undefined;
    fellowsOf(proc: Standing): readonly Member[];
  };
}

/** A call in the queue of a lane. */
interface Waiting {
  readonly pid: number;
  readonly position: number;
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
export const listProcs: Call<"listProcs", ProcPage, Shown, Standing> = {
  name: "ListProcs",
  take: (page = {}) => page,
  args: () => ({}),
  result: (procs) => procs.length,
  run({ core, self }, { after = 0, limit = Number.POSITIVE_INFINITY }) {
    const own = core.projects.memberOf(self);
    const fellows = core.projects.fellowsOf(self);
    const members = new Map(
      [...(own === undefined ? [] : [own]), ...fellows].map((each) => [each.pid, each]),
    );
    const seen: ProcInfo[] = [];
    // of a single process, as a tool looks at one, the others are not looked at
    const next = limit === 1 ? core.table.get(asPid(after + 1)) : undefined;
    const isSeen = next !== undefined && core.table.looksInto(self.pid, next.pid);
    for (const proc of isSeen ? [next] : inOrder(core.table.all(), after)) {
      if (seen.length >= limit) break;
      const member = members.get(proc.pid);
      const more = member === undefined ? {} : { member };
      if (core.table.looksInto(self.pid, proc.pid)) seen.push({ ...core.info(proc), ...more });
      else if (member !== undefined) seen.push(fellowInfo(core.info(proc), member));
    }
    return withPlaces(core, seen);
  },
};

/** The queues are looked at once for all, and only if one of those seen waits. */
function withPlaces({ scheduler }: Shown, seen: ProcInfo[]): ProcInfo[] {
  if (seen.every(({ slot }) => slot === undefined)) return seen;
  const places = new Map<number, number>();
  for (const { waiting } of scheduler.view(""))
    for (const { pid, position } of waiting) places.set(pid, Math.min(position, places.get(pid) ?? position));
  return seen.map((proc) => {
    const place = places.get(proc.pid);
    return proc.slot === undefined || place === undefined ? proc : { ...proc, slot: { ...proc.slot, place } };
  });
}

/** By rising pid: a restored process comes after newer ones in the table. */
function inOrder<P extends Standing>(procs: Iterable<P>, after: number): readonly P[] {
  return [...procs].filter(({ pid }) => pid > after).sort((a, b) => a.pid - b.pid);
}

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
