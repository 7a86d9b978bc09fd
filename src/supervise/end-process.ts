/** The shutdown of a child: TERM, its time, KILL. */
import { messageOf } from "../abi/errors.ts";
import { SIGNALS, type Signal } from "../abi/process.ts";
import type { Core } from "../kernel/core.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Shutdown } from "./spec.ts";

/** Resolves when it is a zombie. One that ended by itself meanwhile is left as it is. */
export async function endProcess(core: Core, proc: Process, shutdown: Shutdown): Promise<void> {
  if (shutdown === "kill") send(core, proc, SIGNALS.SIGKILL);
  // whatever it does about TERM, KILL follows after its time
  else send(core, proc, SIGNALS.SIGTERM, shutdown === "infinity" ? Infinity : shutdown);
  await proc.done.promise;
}

/** Acts at once; a handler of the receiver may take its time, which is not waited for. */
export function send(core: Core, proc: Process, signal: Signal, graceMs?: number): void {
  core.deliver(proc, signal, graceMs).catch((error: unknown) => {
    core.ports.log("error", `pid ${proc.pid}: signal ${signal}: ${messageOf(error)}`);
  });
}
