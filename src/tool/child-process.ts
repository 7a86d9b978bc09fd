/** A descendant of the caller: a process that a tool may wait for, read or end. */
import type { Ended } from "../abi/child.ts";
import { codeOf } from "../abi/errors.ts";
import { asPid, type Pid } from "../abi/ids.ts";
import { findPid } from "../abi/member.ts";
import { type ProcInfo, SIGNALS } from "../abi/process.ts";
import type { Syscalls } from "../abi/sys.ts";
import { failure } from "./failure.ts";
import type { RunContext } from "./tool.ts";

/** The process itself; undefined: it is not seen, or has left the table. */
export async function infoOf(sys: Syscalls, pid: Pid): Promise<ProcInfo | undefined> {
  const [found] = await sys.listProcs({ after: asPid(pid - 1), limit: 1 });
  return found?.pid === pid ? found : undefined;
}

/** A child of the caller. */
export async function findChild(
  sys: Syscalls,
  isWanted: (child: ProcInfo) => boolean,
): Promise<ProcInfo | undefined> {
  const own = sys.getPid();
  return (await sys.listProcs()).find((proc) => proc.ppid === own && isWanted(proc));
}

/** A pid, or the lasting name of an agent. undefined: neither. NOT_FOUND: no agent below the caller has that name. */
export async function findTarget(sys: Syscalls, to: string): Promise<number | undefined> {
  if (!to.startsWith("agent-")) return findPid(to);
  const found = (await sys.listProcs()).find(({ child }) => child?.agentId === to);
  if (found === undefined) throw failure("NOT_FOUND", `no agent ${to} below this one; name it by its pid`);
  return found.pid;
}

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

/** NOT_FOUND: no such process, or it is not a descendant of the caller; the two cases look the same. */
async function findDescendant(sys: Syscalls, pid: number): Promise<ProcInfo> {
  const seen = new Map((await sys.listProcs()).map((proc) => [Number(proc.pid), proc]));
  const found = seen.get(pid);
  const self = Number(sys.getPid());
  for (let above = found; above !== undefined; above = seen.get(Number(above.ppid)))
    if (Number(above.ppid) === self && found !== undefined) return found;
  throw failure("NOT_FOUND", `no process ${pid} below this one`);
}
