/** Keeps processes up as its spec says. The decisions are in decide.ts; this acts. */
import type { Pid } from "../../abi/ids.ts";
import type { SupervisorSpec, SupervisorView } from "../../abi/supervise.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";

/** What a person or a client can do to a supervisor that runs. */
export interface SupervisorControl {
  view(): SupervisorView;
  /** NOT_FOUND: no such child; CONFLICT: it runs. */
  startChild(id: string): Promise<void>;
  /** It stays stopped. CONFLICT: it does not run. */
  stopChild(id: string): Promise<void>;
  restartChild(id: string): Promise<void>;
}

export async function spawnSupervisor(
  _core: Core,
  _caller: Process,
  _spec: SupervisorSpec,
  _opts: { parentPid?: Pid },
  _signal: AbortSignal,
): Promise<Pid> {
  throw new Error("to be written");
}
