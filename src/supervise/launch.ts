/** A supervisor as a process: who starts one gets it when all its children run, or no process is left. */
import { SIGNALS } from "../abi/process.ts";
import type { SpawnOpts } from "../abi/sys.ts";
import type { Core } from "../kernel/core.ts";
import { reapProcess } from "../kernel/process/end/reap.ts";
import type { Process } from "../kernel/process/process.ts";
import { type SpawnMore, spawnBody } from "../kernel/process/spawn/spawn.ts";
import { abortable } from "../lib/abort.ts";
import { send } from "./end-process.ts";
import { ended } from "./ending.ts";
import type { Supervisor } from "./supervisor.ts";

/** Rejects with the error of the first child that does not start; CANCELLED when it is ended before, or by `signal`. */
export async function launchSupervisor(
  core: Core,
  caller: Process,
  supervisor: Supervisor,
  opts: SpawnOpts,
  signal: AbortSignal,
  more: SpawnMore = {},
): Promise<Process> {
  const proc = await spawnBody(core, caller, intentOf(supervisor), supervisor.body(), opts, signal, more);
  const endedEarly = proc.done.promise.then(() => {
    throw ended(supervisor.name);
  });
  endedEarly.catch(() => {});
  try {
    await abortable(Promise.race([supervisor.opened, endedEarly]), signal);
    return proc;
  } catch (error) {
    send(core, proc, SIGNALS.SIGTERM, Infinity);
    await proc.done.promise;
    await reapProcess(core, proc);
    throw error;
  }
}

/** What it keeps, for `ps`. */
function intentOf({ children }: Supervisor): string {
  const ids = children.map(({ id }) => id).join(", ");
  return ids === "" ? "supervise" : `supervise ${ids}`.slice(0, MAX_INTENT);
}

/** Characters. */
const MAX_INTENT = 200;
