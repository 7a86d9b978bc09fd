/** Makes the content of /proc from the process table and what hangs on it. */
import { asPid, type Pid } from "../abi/ids.ts";
import type { SchedView } from "../abi/lanes.ts";
import type { ProcInfo } from "../abi/process.ts";
import { type Labelling, labelsOf } from "../consent/labels/labels.ts";
import type { ContextSpaces } from "./context/spaces.ts";
import type { EndSearch } from "./facts/ended.ts";
import { classOf } from "./gate/slot.ts";
import { wordsOf } from "./log/words.ts";
import type { Plans } from "./ports/plans.ts";
import type { ProcView } from "./ports/proc-view.ts";
import type { SupervisorControl } from "./ports/supervisors.ts";
import type { ViewControl } from "./ports/view-control.ts";
import { type JobList, jobsOf } from "./process/jobs.ts";
import { keptOf } from "./process/kept-values.ts";
import type { Process } from "./process/process.ts";
import { toolLists } from "./process/rights/rights.ts";
import type { ProcessTable } from "./process/table.ts";
import type { Scheduler } from "./schedule/scheduler.ts";
import type { Mounts } from "./vfs/mounts.ts";

/** What is shown under /proc. */
type Shown = JobList &
  Labelling &
  EndSearch & {
    readonly table: ProcessTable;
    readonly scheduler: Pick<Scheduler, "view">;
    readonly contexts: Pick<ContextSpaces, "has" | "summary" | "view">;
    readonly views: Pick<ViewControl, "stat">;
    readonly mounts: Pick<Mounts, "list" | "seenBy">;
    readonly supervisors: ReadonlyMap<Pid, Pick<SupervisorControl, "view">>;
    readonly plans: Pick<Plans, "pathOf">;
    info(proc: Process): ProcInfo;
  };

function schedOf(core: Shown, proc: Process | undefined): SchedView | undefined {
  if (proc === undefined) return undefined;
  const { pid, weight } = proc;
  const own = { class: classOf(core, proc), weight };
  const waits = proc.model.waits.flatMap((wait) =>
    core.scheduler.view(wait.lane).flatMap(({ lane, waiting }) => {
      const mine = waiting.find((each) => each.pid === pid);
      return mine === undefined ? [] : [{ position: mine.position, waitedMs: mine.waitedMs, lane }];
    }),
  );
  return { ...own, ...waits.toSorted((a, b) => b.waitedMs - a.waitedMs)[0] };
}

export function procViewOf(core: Shown): ProcView {
  const { table, contexts, mounts } = core;
  const visible = (viewer: Pid, pid: Pid): Process | undefined => {
    const proc = table.get(pid);
    return proc !== undefined && table.looksInto(viewer, pid) ? proc : undefined;
  };
  return {
    list: (viewer) =>
      [...table.all()].filter(({ pid }) => table.looksInto(viewer, pid)).map((proc) => core.info(proc)),
    find: (viewer, pid) => {
      const proc = visible(viewer, pid);
      return proc === undefined ? undefined : core.info(proc);
    },
    jobs: (pid) => jobsOf(core, pid),
    planPath: (pid) => core.plans.pathOf(pid),
    kept: async (pid, name) => {
      await table.get(pid)?.past.recall();
      const proc = table.get(pid);
      return proc === undefined ? undefined : keptOf(proc).get(name);
    },
    contextSummary: async (pid) => {
      await table.get(pid)?.past.recall();
      return contexts.summary(table.get(pid)?.ctxId ?? (0 as never));
    },
    contextView: async (pid) => {
      await table.get(pid)?.past.recall();
      const ctxId = table.get(pid)?.ctxId;
      return ctxId !== undefined && contexts.has(ctxId) ? contexts.view(ctxId) : undefined;
    },
    contextStat: async (pid) => {
      if (table.get(pid)?.seed.kind !== "agent") return undefined;
      const { messages: _, ...stat } = await core.views.stat(pid);
      return stat;
    },
    words: (viewer, agent) => wordsOf(core, { viewer, agent }),
    fds: (pid) => table.get(pid)?.fds.list() ?? [],
    labels: (pid) => labelsOf(core, pid),
    account: (pid) => table.get(pid)?.seed.account.view() ?? { limit: 0, used: 0, reserved: 0 },
    sched: (pid) => schedOf(core, table.get(pid)),
    lanes: (viewer, device) =>
      core.scheduler.view(device).map(({ lane, waiting }) => ({
        lane,
        waiting: waiting.filter(({ pid }) => visible(viewer, asPid(pid)) !== undefined),
      })),
    signals: (pid) => table.get(pid)?.signals?.view() ?? { blocked: [], pending: [], handled: [] },
    tools: (pid) => {
      const seed = table.get(pid)?.seed;
      if (seed === undefined) return { within: [], denied: [] };
      return { within: toolLists(seed), denied: seed.rights.deny.map(({ text }) => text) };
    },
    servers: (pid) => {
      const proc = table.get(pid);
      return proc === undefined ? [] : mounts.seenBy(proc);
    },
    mounts: (pid) =>
      mounts
        .list()
        .filter((mount) => mount.pid === pid)
        .map(({ path, server }) => ({ path, device: server })),
    supervisor: (pid) => core.supervisors.get(pid)?.view(),
  };
}
