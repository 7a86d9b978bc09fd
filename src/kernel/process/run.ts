/** Runs a program in its process: created → running, the loop, its clean-up, the finish. The kernel owns the promise. */

import { SyscallError } from "../../abi/errors.ts";
import { asFd } from "../../abi/ids.ts";
import type { ExitStatus } from "../../abi/process.ts";
import { EXIT } from "../../abi/process.ts";
import type { ProgramContext } from "../../abi/program.ts";
import { abortable } from "../../lib/abort.ts";
import type { Core } from "../core.ts";
import { finish } from "./finish.ts";
import type { Process } from "./process.ts";

export function runProgram(core: Core, proc: Process, timeoutMs: number): void {
  proc.start();
  proc.loop = loop(core, proc, timeoutMs);
}

async function loop(core: Core, proc: Process, timeoutMs: number): Promise<void> {
  const stopDeadline = startDeadline(core, proc, timeoutMs);
  let exit: ExitStatus;
  try {
    exit = await core.ports.program(contextOf(core, proc));
  } catch (error) {
    const err = error instanceof Error ? error : new Error(String(error));
    exit = { ...EXIT.unexpected, err };
    if (proc.verdict === null)
      core.ports.log("error", `pid ${proc.pid}: the program failed: ${err.stack ?? err.message}`);
  } finally {
    stopDeadline();
    await proc.fds.closeAll((error) => core.ports.log("warn", `pid ${proc.pid}: close: ${String(error)}`));
  }
  await finish(core, proc, exit);
}

/** Ends the process with `timeout`; the timer ends with the run. */
function startDeadline(core: Core, proc: Process, timeoutMs: number): () => void {
  if (timeoutMs === 0) return () => {};
  const stop = new AbortController();
  core.ports.clock.sleep(timeoutMs, stop.signal).then(
    () => {
      const err = new SyscallError({
        syscall: "Spawn",
        pid: proc.pid,
        code: "TIMEOUT",
        message: `timeout after ${timeoutMs} ms`,
      });
      proc.verdict ??= { ...EXIT.timeout, err };
      proc.abort.abort(err);
    },
    () => {},
  );
  return () => stop.abort();
}

function contextOf(core: Core, proc: Process): ProgramContext {
  const { seed, pid } = proc;
  const log: ProgramContext["log"] = (level, message) => {
    const timestampMs = core.ports.clock.mono() - seed.createdMono;
    proc.watchers.publish({ event: "log", pid, entry: { timestampMs, level, message } });
  };
  return {
    sys: core.handle(proc, null),
    pid,
    ctxId: proc.ctxId,
    intent: seed.intent,
    agent: seed.agent,
    cwd: seed.cwd,
    modelFd: asFd(3),
    modelDevice: proc.modelDevice,
    model: proc.model,
    maxSteps: seed.maxSteps,
    signal: proc.abort.signal,
    clock: core.ports.clock,
    waitIfPaused: async () => {
      while (proc.paused !== null) await abortable(proc.paused.promise, proc.abort.signal);
    },
    account: () => seed.account.view(),
    onStep: (step) => proc.watchers.publish({ event: "step", pid, step, total: seed.maxSteps }),
    setActivity: (activity) => {
      if (proc.isLive) proc.activity = activity;
    },
    setResult: (text) => {
      proc.result = text;
    },
    log,
  };
}
