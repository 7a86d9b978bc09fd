/** spawnSupervisor(): starts a supervisor process from a specification. */
import { PID_KERNEL, type Pid } from "../abi/ids.ts";
import type { Core } from "../kernel/core.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Endowment } from "./endowment.ts";
import { launchSupervisor } from "./launch.ts";
import type { CheckedSpec } from "./spec.ts";
import { Supervisor } from "./supervisor.ts";

interface Wish {
  readonly spec: CheckedSpec;
  /** undefined: the caller. */
  readonly parentPid: Pid | undefined;
  /** The endowments of its children before their first start. */
  readonly endowment: Endowment;
  readonly signal: AbortSignal;
}

/**
 * Rejects with the error of the first child that does not start; then no process is left. Children of the user's
 * supervisor run with the user's rights, as if the user had started them; those of an agent's, with a part of the
 * agent's rights.
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
