/** Processes that are no longer in the table: what the journal knows of their use and their end. */
import { agentIdOf, type ChildMark, type Ended } from "../../abi/child.ts";
import { codeOf } from "../../abi/errors.ts";
import { type CtxId, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { ExitStatus, ProcInfo } from "../../abi/process.ts";
import type { ProcessRow } from "../ports/journal.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";

export interface EndedProcess extends Ended {
  readonly ppid: Pid;
  /** What its own calls cost, in millionths of a dollar, and how many had no known price; absent: not recorded. */
  readonly microUsdUsed?: number;
  readonly unpricedCalls?: number;
  /** What it had read. Absent: nothing with labels. */
  readonly labels?: readonly Label[];
}

/** What finding the end of a process needs of the kernel. */
export interface EndSearch {
  readonly ports: Pick<KernelPorts, "journal" | "ends">;
}

/** What the record of an exit keeps, as far as its version had it. */
type Exited = Partial<
  Omit<EndedProcess, "agentId" | "ppid" | "exit" | "elapsedMs"> & Pick<ExitStatus, "kind">
>;

/** undefined: no such process, its history was removed, or it has not ended. */
export async function endOf(core: EndSearch, pid: Pid): Promise<EndedProcess | undefined> {
  const { journal } = core.ports;
  const uuid = await journal.processOf(pid);
  const row = uuid === undefined ? undefined : await journal.row(uuid);
  return row === undefined ? undefined : endOfRow(core, row);
}

/** undefined: it has not ended. */
export async function endOfRow(core: EndSearch, row: ProcessRow): Promise<EndedProcess | undefined> {
  const exit = row.exit ?? core.ports.ends?.exitOf(row.proc);
  if (exit === undefined) return undefined;
  const { code, reason } = exit;
  const record = await exitRecord(core, row);
  const { kind, result = "", tokensUsed = row.tokensUsed, ...paid } = (record?.body ?? {}) as Exited;
  const elapsedMs = Math.max(0, (record?.at ?? row.lastAt) - row.createdAt);
  const ended = kind ?? (reason.startsWith("killed: ") ? "killed" : code === 0 ? "done" : "fault");
  const { microUsdUsed = row.microUsdUsed, unpricedCalls, toolUses, labels, worktree } = paid;
  return {
    agentId: agentIdOf(row.proc),
    ppid: row.ppid,
    exit: { code, reason, kind: ended },
    result,
    tokensUsed,
    elapsedMs,
    ...(microUsdUsed === null || microUsdUsed === 0 ? {} : { microUsdUsed }),
    ...(unpricedCalls === undefined ? {} : { unpricedCalls }),
    ...(toolUses === undefined ? {} : { toolUses }),
    ...(labels === undefined ? {} : { labels }),
    ...(worktree === undefined ? {} : { worktree }),
  };
}

/** undefined: it cannot be read; the caller then uses the row. Few records follow an exit, so it is soon found. */
async function exitRecord({ ports: { journal } }: EndSearch, { proc }: ProcessRow) {
  try {
    return await journal.newest(proc, "process.exited");
  } catch (error) {
    if (codeOf(error) === "INTERNAL") return undefined;
    throw error;
  }
}

/** One page of processes that have ended. */
export interface EndedPage {
  /** Only pids below this one. */
  readonly before: number;
  /** Only this process and all below it; absent: all. */
  readonly tree?: Pid | undefined;
  readonly limit: number;
}

export interface EndedList {
  /** The highest pids first. */
  readonly processes: readonly ProcInfo[];
  /** The `before` of the next page; absent: this is the last. */
  readonly next?: Pid;
}

/**
 * A page of what has ended and is not in the table any more. Nothing of it is in memory: each page is read from the
 * journal, with one row more that shows whether another page follows.
 */
export async function endedProcesses(core: EndSearch & Gone, page: EndedPage): Promise<EndedList> {
  const { before, tree, limit } = page;
  const of = tree === undefined ? {} : { tree };
  const rows = await core.ports.journal.rows({ live: false, before, limit: limit + 1, ...of });
  const shown = rows.slice(0, limit);
  const processes: ProcInfo[] = [];
  for (const row of shown) {
    const ended = core.table.get(row.pid) === undefined ? await endOfRow(core, row) : undefined;
    if (ended !== undefined) processes.push({ ...infoOf(row, ended), ...(await childOf(core, row, ended)) });
  }
  const last = shown.at(-1);
  return { processes, ...(rows.length > limit && last !== undefined ? { next: last.pid } : {}) };
}

/**
 * What the row does not have of an agent that another started: the call that did, and what a fork was for, which its own spawn,
 * the last one in its history, tells from a fork of the user.
 */
async function childOf(
  { ports: { journal } }: EndSearch,
  { proc, kind, ppid, forkedFrom }: ProcessRow,
  { agentId }: Ended,
): Promise<Pick<ProcInfo, "child" | "fork">> {
  if (kind !== "agent" || (ppid === PID_KERNEL && forkedFrom === null)) return {};
  const spawned = (await journal.ofKind(proc, "process.spawned")).at(-1);
  const { fork, child } = (spawned?.body ?? {}) as { readonly fork?: string; readonly child?: ChildMark };
  return {
    ...(fork === undefined || forkedFrom === null ? {} : { fork }),
    ...(child === undefined ? {} : { child: { ...child, agentId } }),
  };
}

interface Gone {
  readonly table: { get(pid: Pid): unknown };
}

function infoOf(
  row: ProcessRow,
  {
    agentId: _,
    labels: _labels,
    worktree: _tree,
    toolUses: _uses,
    microUsdUsed,
    unpricedCalls,
    ...ended
  }: EndedProcess,
): ProcInfo {
  const { pid, kind, name, intent, title, createdAt } = row;
  return {
    pid,
    kind,
    name,
    state: "dead",
    activity: null,
    intent: intent || title,
    skills: [],
    ...ended,
    ...(microUsdUsed ? { microUsdUsed } : {}),
    ...(unpricedCalls ? { unpricedCalls } : {}),
    createdAt: new Date(createdAt),
    ctxId: 0 as CtxId,
    allowedDevices: [],
    groups: [],
    threads: 0,
    coroutines: 0,
    ...(row.isSession ? { isSession: true } : {}),
    model: "",
  };
}
