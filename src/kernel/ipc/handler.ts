/** Runs the handler that a process has set for a signal. */
import { Fault } from "../../abi/errors.ts";
import type { Signal } from "../../abi/process.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import type { Process } from "../process/process.ts";
import { untilDeadline } from "../process/spawn/run.ts";
import type { SignalState } from "./signal-state.ts";

/**
 * undefined: no handler, or it finished synchronously. A synchronous error of the handler is thrown synchronously, so
 * that nothing happens in between; else rejects with the handler's rejection, or TIMEOUT. UNAVAILABLE: too many
 * handlers run.
 */
export function runHandler(
  core: Core,
  proc: Process,
  signals: SignalState,
  signal: Signal,
): Promise<void> | undefined {
  const handler = signals.handlers.get(signal);
  if (typeof handler !== "function") return undefined;
  const { size } = signals.running;
  if (size >= LIMITS.handlersRunning)
    throw new Fault({ code: "UNAVAILABLE", message: `${size} handlers are under way` });
  const running = handler(signal);
  return running === undefined ? undefined : inTime(core, proc, signals, running);
}

/** TIMEOUT after 5 s, pauses not counted. The timer stops with the handler or with the process. */
async function inTime(
  core: Core,
  proc: Process,
  signals: SignalState,
  running: Promise<void>,
): Promise<void> {
  const watch = new AbortController();
  signals.running.add(watch);
  const untilMs = proc.halt.time.ms(core.ports.clock.mono()) + LIMITS.handlerMs;
  const late = untilDeadline(core, proc, untilMs, watch.signal).then(() => {
    throw new Fault({ code: "TIMEOUT", message: `it took over ${LIMITS.handlerMs} ms` });
  });
  try {
    await Promise.race([running, late]);
  } finally {
    signals.running.delete(watch);
    watch.abort();
  }
}
