/** One start of a supervised child: the same rights and what is left of its budget, each time. */
import type { AgentInfo } from "../../abi/agent.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { abortable } from "../../lib/abort.ts";
import { Account } from "../account/account.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import { type SpawnMore, spawnProcess } from "../process/spawn.ts";
import type { Endowment } from "./endowment.ts";
import type { CheckedChild, CheckedSpec } from "./spec.ts";

/** What a supervisor gives to its children. */
export interface Seat {
  readonly core: Core;
  readonly supervisor: Process;
  /** Of whose rights they get part. */
  readonly rights: Process;
  /** Starts a supervisor below this one. */
  nest(spec: CheckedSpec, endowment: Endowment, signal: AbortSignal, more: SpawnMore): Promise<Process>;
}

export type Extra = Pick<SpawnMore, "onMade" | "files">;

/** Errors as of spawn; NOT_FOUND: no such agent. */
export async function startChild(
  seat: Seat,
  { start }: CheckedChild,
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
      return seat.nest(start.spec, endowment, signal, moreOf(seat, endowment, 0, extra));
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
  const limit = Math.max(0, opts.contextBudget ?? 0) || (agent?.manifest.contextBudget ?? 0);
  const mode = endowment.mode ?? opts.permissionMode;
  const kept = {
    ...opts,
    onParentExit: "terminate",
    ...(mode === undefined ? {} : { permissionMode: mode }),
  } as const;
  const more = moreOf(seat, endowment, limit, extra);
  signal.throwIfAborted();
  const proc = await spawnProcess(core, supervisor, intent, agent, kept, signal, more);
  endowment.mode = proc.seed.mode;
  return proc;
}

function moreOf({ supervisor, rights }: Seat, endowment: Endowment, limit: number, extra: Extra): SpawnMore {
  endowment.account ??= new Account(supervisor.seed.account, limit);
  return { ...extra, account: endowment.account, rights };
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
  endowment.agent ??= { info: await loading() };
  return endowment.agent.info;
}
