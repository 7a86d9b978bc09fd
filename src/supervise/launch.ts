/** Starts a supervisor as a process. The caller gets it once all its children run; on failure no process is left. */
import type { SpawnOpts } from "../abi/sys.ts";
import { type Reaping, reapProcess } from "../kernel/process/end/reap.ts";
import type { Process } from "../kernel/process/process.ts";
import { type Spawning, type SpawnMore, spawnBody } from "../kernel/process/spawn/spawn.ts";
import { abortable } from "../lib/abort.ts";
import { type Sender, sendTerm } from "./end-process.ts";
import { ended } from "./ending.ts";
import type { Supervisor } from "./supervisor.ts";

interface Launch {
  readonly caller: Process;
  readonly opts: SpawnOpts;
  readonly signal: AbortSignal;
  readonly more?: SpawnMore;
}

/** Rejects with the error of the first child that fails to start; CANCELLED if ended before that, or by `signal`. */
export async function launchSupervisor(
  core: Spawning & Reaping & Sender,
  supervisor: Supervisor,
  { caller, opts, signal, more = {} }: Launch,
): Promise<Process> {
  const [intent, body] = [intentOf(supervisor), supervisor.body()];
  const proc = await spawnBody(core, { caller, intent, body, opts, more }, signal);
  const endedEarly = proc.done.promise.then(() => {
    throw ended(supervisor.name);
  });
  endedEarly.catch(() => {});
  try {
    await abortable(Promise.race([supervisor.opened, endedEarly]), signal);
    return proc;
  } catch (error) {
    sendTerm(core, proc, Infinity);
    await proc.done.promise;
    await reapProcess(core, proc);
    throw error;
  }
}

/** The intent shown by `ps`: the ids of its children. */
function intentOf({ children }: Supervisor): string {
  const ids = children.map(({ id }) => id).join(", ");
  return ids === "" ? "supervise" : `supervise ${ids}`.slice(0, MAX_INTENT);
}

/** The most characters of an intent. */
const MAX_INTENT = 200;
