/** A descendant of the caller: a process that a tool may wait for, read or end. */
import { type Ended, outputOf } from "../abi/child.ts";
import { codeOf } from "../abi/errors.ts";
import { asPid, type Pid } from "../abi/ids.ts";
import { findPid } from "../abi/member.ts";
import { type ProcInfo, SIGNALS } from "../abi/process.ts";
import type { Syscalls } from "../abi/sys.ts";
import { failure } from "./failure.ts";
import type { RunContext, Scope } from "./tool.ts";

/** The process itself; undefined: it is not seen, or has left the table. */
export async function infoOf(sys: Syscalls, pid: Pid): Promise<ProcInfo | undefined> {
  const [found] = await sys.listProcs({ after: asPid(pid - 1), limit: 1 });
  return found?.pid === pid ? found : undefined;
}

/** A child that a call of a model started, as the process itself notes it. */
interface NotedChild {
  readonly call: string;
  readonly pid: Pid;
  readonly name?: string;
  /** The beginning of its task: some servers give the calls of every reply the same ids. */
  readonly task?: string;
}

const CHILDREN = "agent/calls";
/** More than a reply has calls that run at once. */
const MAX_NOTED = 128;

/** The children that the process has started, the newest last; those that have ended, too. */
function childrenIn(kept: Scope["kept"]): readonly NotedChild[] {
  return (kept?.get(CHILDREN) ?? []) as readonly NotedChild[];
}

/** It started the process: one of which nothing else is known has lost its history since. */
export function hasStarted(kept: Scope["kept"], pid: number): boolean {
  return childrenIn(kept).some((each) => Number(each.pid) === pid);
}

/**
 * The child that a call started before its daemon stopped. It is among the processes, and was perhaps not noted any more; or
 * it has been noted, and may have ended.
 */
export async function findStarted(
  { sys, kept }: Named,
  { call, task }: Pick<NotedChild, "call" | "task">,
): Promise<Pid | undefined> {
  const noted = childrenIn(kept).filter((each) => each.call === call);
  const own = sys.getPid();
  const isNew = ({ pid, ppid, child }: ProcInfo) =>
    ppid === own && child?.call === call && !noted.some((each) => each.pid === pid);
  const started = (await sys.listProcs()).findLast(isNew);
  return started?.pid ?? noted.findLast((each) => (each.task ?? task) === task)?.pid;
}

/** Recorded between the start and the end of a child; a call of a program is not noted. */
export function noteChild(kept: Scope["kept"], child: NotedChild): void {
  if (child.call !== "") kept?.set(CHILDREN, [...childrenIn(kept).slice(1 - MAX_NOTED), child]);
}

/**
 * A pid, the lasting name of an agent, or the name that it was given: the newest one counts, and live ones before those that
 * have ended. undefined: nobody has that name. NOT_FOUND: nobody has
 * this lasting name.
 */
export async function findTarget({ sys, kept }: Named, to: string): Promise<number | undefined> {
  const pid = findPid(to);
  // a job is not a process
  if (pid !== undefined || /^job-\d+$/.test(to)) return pid;
  const procs = await sys.listProcs();
  const live = procs.findLast(
    ({ child, exit }) => exit === null && (child?.agentId === to || child?.name === to),
  );
  if (live !== undefined) return live.pid;
  for (const child of childrenIn(kept).toReversed()) {
    if (child.name === to) return child.pid;
    if (!to.startsWith("agent-")) continue;
    const ended = await sys.ended(child.pid).catch(() => null);
    if (ended?.agentId === to) return child.pid;
  }
  if (to.startsWith("agent-"))
    throw failure("NOT_FOUND", `no agent ${to} is known here; name it by its pid, or start a new one`);
  return undefined;
}

type Named = Pick<RunContext, "sys" | "kept">;

/**
 * Ends a descendant with all that is below it, and returns when they are gone. A notice of its end is not sent: the caller
 * tells it. CONFLICT: it had ended already.
 */
export async function endTree(context: RunContext, pid: number): Promise<Ended> {
  const { sys, signal } = context;
  const { exit } = await findDescendant(sys, pid);
  if (exit !== null) throw failure("CONFLICT", `process ${pid} has already ended (${exit.reason})`);
  const below = await treeOf(sys, pid);
  await sys.signal(asPid(pid), SIGNALS.SIGTERM);
  for (const each of below) await untilOver(sys, each, signal);
  const ended = await sys.ended(asPid(pid), { isTold: true });
  if (ended === null) throw failure("TIMEOUT", `process ${pid} was sent SIGTERM and has not ended yet`);
  return ended;
}

/** It and its live descendants; those below come later. */
async function treeOf(sys: Syscalls, pid: number): Promise<readonly Pid[]> {
  const all = await sys.listProcs();
  const tree = [asPid(pid)];
  for (const at of tree)
    for (const proc of all) if (proc.ppid === at && proc.exit === null) tree.push(proc.pid);
  return tree;
}

/** After TERM a process is ended by force, so the wait is short. */
const END_MS = 15_000;

async function untilOver(sys: Syscalls, pid: Pid, signal: AbortSignal): Promise<void> {
  try {
    const woken = await sys.sleep(END_MS, signal, { pid });
    // it was handed to the background in the same moment: its end is yet to come
    if (woken === "detached") await sys.sleep(END_MS, signal, { pid });
  } catch (error) {
    // it was reaped meanwhile
    if (codeOf(error) !== "NOT_FOUND") throw error;
  }
}

/** Where the work of a child lies that had a worktree of its own. An end is told before git is asked what has changed. */
export function treeNote({ worktree }: Ended): string {
  if (worktree === undefined) return "";
  return `; its worktree, gone if nothing has changed in it: ${worktree.path}, branch ${worktree.branch}`;
}

/** One that has ended may have left the table. NOT_FOUND: no such process is known here. PERMISSION: it is not below the caller. */
async function findDescendant(sys: Syscalls, pid: number): Promise<Pick<ProcInfo, "exit">> {
  const seen = new Map((await sys.listProcs()).map((proc) => [Number(proc.pid), proc]));
  const found = seen.get(pid);
  const self = Number(sys.getPid());
  for (let above = found; above !== undefined; above = seen.get(Number(above.ppid)))
    if (Number(above.ppid) === self && found !== undefined) return found;
  if (found !== undefined) throw failure("PERMISSION", `process ${pid} is not below this one`);
  const gone = await endOf(sys, asPid(pid));
  if (gone !== null) return gone;
  throw failure("NOT_FOUND", `no process ${pid} below this one`);
}

/** Where the words of an agent are, and what a model is told of that. */
export async function outputFile(sys: Syscalls, agentId: string, signal: AbortSignal) {
  const file = outputOf(agentId);
  // they are files of Crux, which no command can open
  const canRead = await sys.stat("/bin/view", signal).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === "CANCELLED") throw error;
      return false;
    },
  );
  const told = canRead ? ` What it has said so far is in ${file}.` : "";
  return { told, output_file: file, can_read_output_file: canRead };
}

/** null: it has not ended, or it is not below the caller. */
export async function endOf(sys: Syscalls, pid: Pid): Promise<Ended | null> {
  try {
    return await sys.ended(pid);
  } catch (error) {
    if (codeOf(error) !== "NOT_FOUND") throw error;
    return null;
  }
}
