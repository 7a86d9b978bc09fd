/** One start of a supervised child: the same rights and what is left of its budget, each time. */
import type { AgentInfo } from "../abi/agent.ts";
import type { BudgetLimits } from "../abi/budget.ts";
import { SyscallError } from "../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../abi/ids.ts";
import type { SpawnOpts } from "../abi/sys.ts";
import { childLimits } from "../kernel/account/spawn-limits.ts";
import type { Core } from "../kernel/core.ts";
import type { Process } from "../kernel/process/process.ts";
import { type SpawnMore, spawnProcess } from "../kernel/process/spawn/spawn.ts";
import { abortable } from "../lib/abort.ts";
import type { Endowment } from "./endowment.ts";
import type { CheckedChild, CheckedSpec } from "./spec.ts";

/** What a supervisor gives to its children. */
export interface Seat {
  readonly core: Core;
  readonly supervisor: Process;
  /** Of whose rights they get part. */
  readonly rights: Process;
  /** Starts a supervisor below this one. */
  nest(
    id: string,
    spec: CheckedSpec,
    endowment: Endowment,
    signal: AbortSignal,
    more: SpawnMore,
  ): Promise<Process>;
}

export type Extra = Pick<SpawnMore, "onMade" | "files" | "alongside"> & {
  /** Words after the instructions of an agent; "" none. */
  readonly note?: string;
};

/** Errors as of spawn; NOT_FOUND: no such agent. */
export async function startChild(
  seat: Seat,
  { id, start }: CheckedChild,
  endowment: Endowment,
  signal: AbortSignal,
  extra: Extra,
): Promise<Process> {
  switch (start.kind) {
    case "agent": {
      const agent = await agentOf(seat, endowment, start.agent, start.opts, signal);
      return spawn(seat, endowment, start.intent, agent, start.opts, signal, extra);
    }
    case "native": {
      const opts = { ...start.opts, command: start.command, options: start.options };
      return spawn(seat, endowment, "", null, opts, signal, extra);
    }
    case "supervisor":
      return seat.nest(id, start.spec, endowment, signal, moreOf(seat, endowment, {}, extra));
    case "withheld":
      throw withheld(seat.supervisor.pid, id, start.reason);
  }
}

async function spawn(
  seat: Seat,
  endowment: Endowment,
  intent: string,
  agent: AgentInfo | null,
  opts: SpawnOpts,
  signal: AbortSignal,
  extra: Extra,
): Promise<Process> {
  const { core, supervisor } = seat;
  const limits = childLimits(agent, opts);
  const mode = endowment.mode ?? opts.permissionMode;
  const kept = {
    ...opts,
    onParentExit: "terminate",
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...told(opts, extra),
  } as const;
  const more = moreOf(seat, endowment, limits, extra);
  signal.throwIfAborted();
  const proc = await spawnProcess(core, supervisor, intent, agent, kept, signal, more);
  endowment.mode = proc.seed.mode;
  return proc;
}

function told(
  { command, systemPrompt = "" }: SpawnOpts,
  { note = "" }: Extra,
): Pick<SpawnOpts, "systemPrompt"> {
  if (command !== undefined || note === "") return {};
  return { systemPrompt: [systemPrompt, note].filter((part) => part !== "").join("\n\n") };
}

function moreOf(
  { supervisor, rights }: Seat,
  endowment: Endowment,
  limits: BudgetLimits,
  { note: _, ...extra }: Extra,
): SpawnMore {
  return { ...extra, account: endowment.accountIn(supervisor.seed.account, limits), rights };
}

async function agentOf(
  { core, rights }: Seat,
  endowment: Endowment,
  name: string | undefined,
  opts: SpawnOpts,
  signal: AbortSignal,
): Promise<AgentInfo | null> {
  if (name === undefined) return null;
  const { cwd, env } = rights.seed;
  const loading = (): Promise<AgentInfo | null> =>
    abortable(core.ports.loadAgent(name, opts.cwd ?? cwd, opts.env ?? env), signal);
  if (endowment.agent !== null) return endowment.agent.info;
  return endowment.takeAgent(await loading(), rights.pid === PID_KERNEL);
}

function withheld(pid: Pid, id: string, reason: string): SyscallError {
  const message = `child ${id} cannot be started as it was: ${reason}`;
  return new SyscallError({ syscall: "Spawn", pid, code: "UNAVAILABLE", message });
}
