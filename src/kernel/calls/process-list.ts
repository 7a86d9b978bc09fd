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
    childrenOf(pid: Pid): readonly Standing[];
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
  readonly isLive: boolean;
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
  run({ core, self }, page) {
    const { limit = Number.POSITIVE_INFINITY, working = false } = page;
    const own = core.projects.memberOf(self);
    const fellows = core.projects.fellowsOf(self);
    const members = new Map(
      [...(own === undefined ? [] : [own]), ...fellows].map((each) => [each.pid, each]),
    );
    const seen: ProcInfo[] = [];
    for (const proc of candidates(core, self, page)) {
      if (seen.length >= limit) break;
      const member = members.get(proc.pid);
      const more = member === undefined ? {} : { member };
      const isSeen = core.table.looksInto(self.pid, proc.pid);
      if (!isSeen && member === undefined) continue;
      const info = core.info(proc);
      if (working && !worksAlone(info)) continue;
      seen.push(isSeen ? { ...info, ...more } : fellowInfo(info, member as Member));
    }
    return withPlaces(core, seen);
  },
};

/** Of many processes, those that cannot be meant are not looked at. */
function candidates({ table }: Shown, { pid }: Standing, page: ProcPage): readonly Standing[] {
  const { after = 0, limit, working = false } = page;
  if (working)
    return inOrder(
      table.childrenOf(pid).filter(({ isLive }) => isLive),
      after,
    );
  const next = limit === 1 ? table.get(asPid(after + 1)) : undefined;
  return next !== undefined && table.looksInto(pid, next.pid) ? [next] : inOrder(table.all(), after);
}

/** An agent in the background that has something to do. */
function worksAlone({ child, activity }: ProcInfo): boolean {
  return child?.isBackground === true && activity !== "idle";
}

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
