/** Starts a supervised child: each time with the same rights, and with what is left of its budget. */
import type { AgentInfo } from "../abi/agent.ts";
import type { BudgetLimits } from "../abi/budget.ts";
import { SyscallError } from "../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../abi/ids.ts";
import type { SpawnOpts } from "../abi/sys.ts";
import { childLimits } from "../kernel/account/spawn-limits.ts";
import { type Hosting, spawnProcess } from "../kernel/native/spawn-process.ts";
import type { KernelPorts } from "../kernel/ports/kernel-ports.ts";
import type { Reaping } from "../kernel/process/end/reap.ts";
import type { Process } from "../kernel/process/process.ts";
import type { SpawnMore } from "../kernel/process/spawn/spawn.ts";
import type { ProcessTable } from "../kernel/process/table.ts";
import { abortable } from "../lib/abort.ts";
import type { Sender } from "./end-process.ts";
import type { Endowment } from "./endowment.ts";
import type { CheckedChild, CheckedSpec, CheckedStart } from "./spec.ts";

/** What starting and ending children needs of the kernel. */
export type ChildKernel = Hosting &
  Reaping &
  Sender & {
    readonly ports: Pick<KernelPorts, "loadAgent">;
    readonly table: Pick<ProcessTable, "childrenOf">;
  };

/** What a supervisor provides for starting its children. */
export interface Seat {
  readonly core: ChildKernel;
  readonly supervisor: Process;
  /** The process whose rights they get a part of. */
  readonly rights: Process;
  /** Starts a supervisor below this one. */
  nest(start: ChildStart, spec: CheckedSpec, more: SpawnMore): Promise<Process>;
}

export type Extra = Pick<SpawnMore, "onMade" | "files" | "alongside"> & {
  /** Text added after the instructions of an agent; "": none. */
  readonly note?: string;
};

export interface ChildStart {
  readonly child: { readonly spec: CheckedChild; readonly endowment: Endowment };
  /** Cancels the start. */
  readonly signal: AbortSignal;
  readonly extra: Extra;
}

/** Errors: those of spawn. NOT_FOUND: no such agent. UNAVAILABLE: the child is withheld. */
export async function startChild(seat: Seat, start: ChildStart): Promise<Process> {
  const { id, start: how } = start.child.spec;
  switch (how.kind) {
    case "agent": {
      const { intent, opts } = how;
      return spawn(seat, start, { intent, agent: await agentOf(seat, start, how), opts });
    }
    case "native": {
      const opts = { ...how.opts, command: how.command, options: how.options };
      return spawn(seat, start, { intent: "", agent: null, opts });
    }
    case "supervisor":
      return seat.nest(start, how.spec, moreOf(seat, start, {}));
    case "withheld":
      throw withheld(seat.supervisor.pid, id, how.reason);
  }
}

interface Program {
  readonly intent: string;
  readonly agent: AgentInfo | null;
  readonly opts: SpawnOpts;
}

async function spawn(seat: Seat, start: ChildStart, { intent, agent, opts }: Program): Promise<Process> {
  const { core, supervisor } = seat;
  const { child, signal, extra } = start;
  const limits = childLimits(agent, opts);
  const mode = child.endowment.mode ?? opts.permissionMode;
  const kept = {
    ...opts,
    onParentExit: "terminate",
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...told(opts, extra),
  } as const;
  const more = moreOf(seat, start, limits);
  signal.throwIfAborted();
  const proc = await spawnProcess(core, { caller: supervisor, intent, agent, opts: kept, more }, signal);
  child.endowment.mode = proc.seed.mode;
  return proc;
}

function told(
  { command, systemPrompt = "" }: SpawnOpts,
  { note = "" }: Extra,
): Pick<SpawnOpts, "systemPrompt"> {
  if (command !== undefined || note === "") return {};
  return { systemPrompt: [systemPrompt, note].filter((part) => part !== "").join("\n\n") };
}

function moreOf({ supervisor, rights }: Seat, { child, extra }: ChildStart, limits: BudgetLimits): SpawnMore {
  const { note: _, ...more } = extra;
  return { ...more, account: child.endowment.accountIn(supervisor.seed.account, limits), rights };
}

async function agentOf(
  { core, rights }: Seat,
  { child: { endowment }, signal }: ChildStart,
  { agent: name, opts }: Extract<CheckedStart, { kind: "agent" }>,
): Promise<AgentInfo | null> {
  if (name === undefined) return null;
  if (endowment.agent !== null) return endowment.agent.info;
  const { cwd, env } = rights.seed;
  const loading = core.ports.loadAgent(name, { cwd: opts.cwd ?? cwd, env: opts.env ?? env });
  return endowment.takeAgent(await abortable(loading, signal), rights.pid === PID_KERNEL);
}

function withheld(pid: Pid, id: string, reason: string): SyscallError {
  const message = `child ${id} cannot be started as it was: ${reason}`;
  return new SyscallError({ syscall: "Spawn", pid, code: "UNAVAILABLE", message });
}
