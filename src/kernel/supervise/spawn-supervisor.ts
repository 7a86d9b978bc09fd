/** spawnSupervisor(): a specification becomes a process that keeps its children up. */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { SupervisorSpec } from "../../abi/supervise.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import { launchSupervisor } from "./launch.ts";
import { checkSpec } from "./spec.ts";
import { Supervisor } from "./supervisor.ts";

/**
 * INVALID: path of the field. Rejects with the error of the first child that does not start; then no process is left. What a
 * person's supervisor keeps runs with the person's rights, as if the person had started it; an agent's, with part of its own.
 */
export async function spawnSupervisor(
  core: Core,
  caller: Process,
  spec: SupervisorSpec,
  opts: { parentPid?: Pid },
  signal: AbortSignal,
): Promise<Pid> {
  const isTop = (opts.parentPid ?? caller.pid) === PID_KERNEL;
  const supervisor = new Supervisor(core, checkSpec(spec), isTop ? { rights: core.root } : {});
  const proc = await launchSupervisor(core, caller, supervisor, opts, signal);
  return proc.pid;
}
