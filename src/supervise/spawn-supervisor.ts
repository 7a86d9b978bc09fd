/** spawnSupervisor(): a specification becomes a process that keeps its children up. */
import { PID_KERNEL, type Pid } from "../abi/ids.ts";
import type { Core } from "../kernel/core.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Endowment } from "./endowment.ts";
import { launchSupervisor } from "./launch.ts";
import type { CheckedSpec } from "./spec.ts";
import { Supervisor } from "./supervisor.ts";

interface Wish {
  readonly spec: CheckedSpec;
  /** Absent: the caller. */
  readonly parentPid: Pid | undefined;
  /** What its children have before they first start. */
  readonly endowment: Endowment;
  readonly signal: AbortSignal;
}

/**
 * Rejects with the error of the first that does not start; then
 * no process is left. What a person's supervisor keeps runs with the person's rights, as if the person had started it; an
 * agent's, with part of its own.
 */
export async function spawnSupervisor(
  core: Core,
  caller: Process,
  { spec, parentPid = caller.pid, endowment, signal }: Wish,
): Promise<Pid> {
  const isTop = parentPid === PID_KERNEL;
  const supervisor = new Supervisor(core, spec, { endowment, ...(isTop ? { rights: core.root } : {}) });
  const proc = await launchSupervisor(core, supervisor, { caller, opts: { parentPid }, signal });
  return proc.pid;
}
