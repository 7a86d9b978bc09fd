/** running → zombie, once, whoever comes first: the loop's end or a forced kill. */

import { codeOf, printed } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { ExitStatus } from "../../abi/process.ts";
import type { Core } from "../core.ts";
import type { Process } from "./process.ts";

/** What a signal or deadline decided outranks what the program returned. */
export function finish(core: Core, proc: Process, returned: ExitStatus): Promise<void> {
  proc.finishing ??= finishOnce(core, proc, proc.verdict ?? returned);
  return proc.finishing;
}

async function finishOnce(core: Core, proc: Process, exit: ExitStatus): Promise<void> {
  proc.revoked = true;
  await journalExit(core, proc, exit);
  proc.terminate(exit, core.ports.clock.mono());
  proc.done.resolve(exit);
  tell(core, proc, exit);
  if (proc.ppid === PID_KERNEL) core.offer(proc, "seen");
}

/** Synced before anyone hears of it. A disk that refuses does not keep a process alive: it is logged. */
async function journalExit(core: Core, proc: Process, exit: ExitStatus): Promise<void> {
  const { code, reason, kind, err } = exit;
  const failure = err === undefined ? {} : { error: { code: codeOf(err), message: err.message } };
  const body = {
    code,
    reason,
    kind,
    result: proc.result.slice(0, 900_000),
    tokensUsed: proc.tokensUsed,
    ...failure,
  };
  const { pid } = proc;
  try {
    await core.ports.journal.append([{ proc: proc.seed.uuid, pid, kind: "process.exited", v: 1, body }]);
  } catch (error) {
    core.ports.log("error", `pid ${pid}: its exit could not be journalled: ${printed(error)}`);
  }
}

function tell(core: Core, proc: Process, exit: ExitStatus): void {
  const { pid, watchers, result, tokensUsed } = proc;
  if (exit.code !== 0) {
    const error = exit.err ?? new Error(exit.reason);
    watchers.publish({
      event: "error",
      pid,
      message: exit.err === undefined ? exit.reason : exit.err.message,
      error,
    });
  }
  watchers.publish({
    event: "complete",
    pid,
    result,
    exit,
    tokensUsed,
    elapsedMs: proc.elapsedMs(core.ports.clock.mono()),
  });
}

/** A verdict has fallen on a running process: the program is told, and the handle dies with a forced one. */
export function killRunning(core: Core, proc: Process): void {
  if (proc.verdict?.code === 137) {
    proc.revoked = true;
    proc.abort.abort();
    void finish(core, proc, proc.verdict);
    return;
  }
  proc.abort.abort();
}
