/** The shutdown of a child: TERM, a grace period, KILL. */
import { messageOf } from "../abi/errors.ts";
import { SIGNALS, type Signal } from "../abi/process.ts";
import type { KernelPorts } from "../kernel/ports/kernel-ports.ts";
import type { Process } from "../kernel/process/process.ts";
import type { Shutdown } from "./spec.ts";

export interface Sender {
  readonly ports: Pick<KernelPorts, "log">;
  deliver(proc: Process, signal: Signal, graceMs?: number): Promise<unknown>;
}

/** Resolves when the process is a zombie. One that has ended by itself is left as it is. */
export async function endProcess(core: Sender, proc: Process, shutdown: Shutdown): Promise<void> {
  if (shutdown === "kill") sendKill(core, proc);
  else sendTerm(core, proc, shutdown === "infinity" ? Infinity : shutdown);
  await proc.done.promise;
}

/** KILL follows after `graceMs`, even if the process handles TERM. */
export function sendTerm(core: Sender, proc: Process, graceMs: number): void {
  tellFailure(core, proc, core.deliver(proc, SIGNALS.SIGTERM, graceMs));
}

export function sendKill(core: Sender, proc: Process): void {
  tellFailure(core, proc, core.deliver(proc, SIGNALS.SIGKILL));
}

/** Logs a failed delivery. The signal acts at once; a handler of the receiver is not waited for. */
function tellFailure({ ports }: Sender, { pid }: Process, delivery: Promise<unknown>): void {
  delivery.catch((error: unknown) => {
    ports.log("error", `pid ${pid}: its end could not be asked for: ${messageOf(error)}`);
  });
}
