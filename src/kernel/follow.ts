/** What clients follow of a process: its events from its spawn on, its calls, its end. */

import type { AgentInfo } from "../abi/agent.ts";
import { SyscallError } from "../abi/errors.ts";
import type { Detail, ProcessEvent, SyscallEvent } from "../abi/events.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../abi/ids.ts";
import type { SpawnOpts } from "../abi/sys.ts";
import { abortable } from "../lib/abort.ts";
import { type EndedProcess, type EndSearch, endOf } from "./facts/ended.ts";
import { type Hosting, spawnProcess } from "./native/spawn-process.ts";
import type { Subscription } from "./ports/subscription.ts";
import { type Reaping, reapProcess } from "./process/end/reap.ts";
import type { Process } from "./process/process.ts";
import type { ProcessTable } from "./process/table.ts";

interface Followed {
  readonly table: Pick<ProcessTable, "get" | "require">;
  readonly asks: { attend(proc: Process, detail?: Detail): Subscription<ProcessEvent> };
}

export function attach(
  core: Followed,
  pid: Pid,
  { interactive, detail }: { interactive: boolean; detail?: Detail | undefined },
): Subscription<ProcessEvent> {
  const proc = core.table.require(PID_KERNEL, pid, "Attach", "see");
  return interactive && proc.isLive ? core.asks.attend(proc, detail) : proc.watchers.watch(undefined, detail);
}

export interface Watched {
  readonly pid: Pid;
  readonly uuid?: ProcUuid;
  readonly events: Subscription<ProcessEvent>;
}

interface WatchedWish {
  readonly intent: string;
  readonly agent: AgentInfo | null;
  readonly opts: SpawnOpts & { readonly detail?: Detail | undefined };
}

export async function spawnWatched(
  core: Hosting & Pick<Followed, "asks"> & { readonly root: Process },
  { intent, agent, opts }: WatchedWish,
): Promise<Watched> {
  let events: Subscription<ProcessEvent> | undefined;
  const watch = (proc: Process): void => {
    // a child of an agent asks whoever its parent asks
    const isPersons = opts.interactive === true && proc.ppid === PID_KERNEL;
    const { detail } = opts;
    events = isPersons ? core.asks.attend(proc, detail) : proc.watchers.watch(undefined, detail);
  };
  const request = { caller: core.root, intent, agent, opts, more: { onMade: watch } };
  const proc = await spawnProcess(core, request, core.root.abort.signal);
  return { pid: proc.pid, uuid: proc.seed.uuid, events: events as Subscription<ProcessEvent> };
}

export function attachDebug(
  { table }: Pick<Followed, "table">,
  pid: Pid,
  options: { all: boolean },
): Subscription<SyscallEvent> {
  const { debug } = table.require(PID_KERNEL, pid, "AttachDebug", "see");
  if (debug === null)
    throw new SyscallError({
      syscall: "AttachDebug",
      pid: PID_KERNEL,
      code: "NOT_FOUND",
      message: `process not found: ${pid}`,
      fact: { kind: "no_process", pid },
    });
  return debug.attach(options);
}

export type Waited = Omit<EndedProcess, "result" | "agentId" | "ppid" | "labels">;

export async function waitFor(
  core: EndSearch & Reaping & Pick<Followed, "table">,
  pid: Pid,
  signal: AbortSignal,
): Promise<Waited> {
  const ended = core.table.get(pid) === undefined ? await endOf(core, pid) : undefined;
  if (ended !== undefined) return ended;
  const proc = core.table.require(PID_KERNEL, pid, "Wait", "see");
  const exit = await abortable(proc.done.promise, signal);
  const { tokens: tokensUsed, paid } = proc.used;
  const elapsedMs = proc.elapsedMs(core.ports.clock.mono());
  await reapProcess(core, proc);
  return { exit, tokensUsed, elapsedMs, ...paid };
}
